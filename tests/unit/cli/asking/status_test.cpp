#include "cli/asking/status.h"

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

TEST_CASE("programs are told what the lead knows of a worker's speed, and of slots that changed hands") {
  const auto json = nlohmann::json::parse(status_json(with_two_workers()));
  CHECK(json["slots_taken"] == 12);
  CHECK(json["slots_reassigned"] == 13);
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
