#include "cli/asking/status.h"
#include "common/telling/status_json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace ballast {
namespace {

Status with_two_workers() {
  Status status;
  status.job = "small";
  status.mode = "sync";
  status.phase = JobPhase::training;
  status.steps = 9;
  status.slots_taken = 12;
  status.slots_reassigned = 13;
  status.slots_tried = 14;
  status.sessions.resize(2);
  status.sessions[0].session = 1;
  status.sessions[0].name = "quick";
  status.sessions[0].live = true;
  status.sessions[1] = {2, "slow",         true,    5,      10,         "",         "", {},
                        0, "it is silent", 250'000, 30'000, 12'500'000, 25'000'000, 7};
  return status;
}

TEST_CASE("a status says below a worker why it is held up, and nothing of one that is not") {
  auto status = with_two_workers();
  const auto text = status_lines(status);
  const auto slow = text.find("slow ");
  const auto why = text.find("\n  held up: it is silent\n");
  REQUIRE(slow != std::string::npos);
  REQUIRE(why != std::string::npos);
  CHECK(text.find("quick ") < slow);
  CHECK(slow < why);
  CHECK(text.find('\n', slow) == why);
  CHECK(text.find("held up", why + 12) == std::string::npos);
  status.sessions[1].held_up.clear();
  CHECK(status_lines(status).find("held up") == std::string::npos);
}

SessionStatus worker_life(SessionId id, const std::string& name, bool live) {
  SessionStatus session;
  session.session = id;
  session.name = name;
  session.live = live;
  return session;
}

// The lines below the table's head.
std::string sessions_of(const Status& status) {
  const auto text = status_lines(status);
  const auto head = text.find("worker   ");
  REQUIRE(head != std::string::npos);
  return text.substr(text.find('\n', head) + 1);
}

TEST_CASE("live workers come first, then refused ones, and lives that are over are counted in a line") {
  Status status;
  status.phase = JobPhase::training;
  status.lost_workers = 2;
  status.sessions = {worker_life(1, "b", false), worker_life(2, "other", false), worker_life(3, "b", true),
                     worker_life(4, "c", false), worker_life(5, "a", true)};
  status.sessions[1].refusal = "other data";
  const auto text = sessions_of(status);
  const auto at = [&](const char* part) {
    CAPTURE(part);
    const auto found = text.find(part);
    REQUIRE(found != std::string::npos);
    return found;
  };
  CHECK(text.starts_with("b  "));
  CHECK(at("live") < at("\na  "));
  CHECK(at("\na  ") < at("\nother  "));
  CHECK(at("refused") < at("gone: "));
  CHECK(text.ends_with("\ngone: 2, of them not back: c; lost without a goodbye: 2 (--json lists each life)\n"));
  CHECK(nlohmann::json::parse(status_json(status))["sessions"].size() == 5);
}

TEST_CASE("nobody is said to be gone where nobody is, or not to be back where all are") {
  Status status;
  status.sessions = {worker_life(1, "a", true)};
  status.lost_workers = 1;  // it was silent, and is heard of again
  CHECK(sessions_of(status).find("gone") == std::string::npos);
  status.sessions.push_back(worker_life(2, "a", false));
  CHECK(sessions_of(status).ends_with("gone: 1; lost without a goodbye: 1 (--json lists each life)\n"));
}

TEST_CASE("of many that are gone a few are named") {
  Status status;
  for (SessionId id = 0; id < 9; ++id) {
    status.sessions.push_back(worker_life(id, "host-" + std::to_string(id), false));
  }
  CHECK(sessions_of(status) ==
        "gone: 9, of them not back: host-0, host-1, host-2, host-3, host-4 and 4 more; lost without a goodbye: 0 "
        "(--json lists each life)\n");
}

TEST_CASE("a job that pauses without workers waits for one, in the text as for programs") {
  Status status;
  status.phase = JobPhase::pausing;
  CHECK(status_lines(status).find("\nwaits for: a worker, for there is none\n") != std::string::npos);
  CHECK(nlohmann::json::parse(status_json(status))["waits_for"] == "a worker, for there is none");
}

TEST_CASE("programs are told what the lead knows of a worker's speed, and of slots that changed hands") {
  const auto json = nlohmann::json::parse(status_json(with_two_workers()));
  CHECK(json["slots_taken"] == 12);
  CHECK(json["slots_reassigned"] == 13);
  CHECK(json["slots_tried"] == 14);
  const auto& slow = json["sessions"][1];
  CHECK(slow["held_up"] == "it is silent");
  CHECK(slow["slot_time"] == 250'000);
  CHECK(slow["lag"] == 30'000);
  CHECK(slow["up"] == 12'500'000);
  CHECK(slow["down"] == 25'000'000);
  CHECK(slow["share"] == 7);
  CHECK(json["sessions"][0]["held_up"] == "");
  CHECK(json["sessions"][0]["share"] == 0);
}

}  // namespace
}  // namespace ballast
