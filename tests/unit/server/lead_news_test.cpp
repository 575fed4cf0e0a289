#include "server/lead_news.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace ballast {
namespace {

using Lines = std::vector<std::string>;

SessionStatus session(SessionId id, const std::string& name, bool live) {
  SessionStatus status;
  status.session = id;
  status.name = name;
  status.live = live;
  return status;
}

// As the log shows them.
Lines told(LeadNews& news, const Status& status) {
  Lines lines;
  for (const auto& line : news.of(status)) {
    lines.push_back((line.level == LogLevel::warn ? "warn: " : "") + line.text);
  }
  return lines;
}

Status training() {
  Status status;
  status.phase = JobPhase::training;
  status.step = 3;
  status.steps = 9;
  return status;
}

TEST_CASE("a phase is told once, with the failure that it is") {
  LeadNews news;
  auto status = training();
  CHECK(told(news, status) == Lines{"training at step 3 of 9"});
  status.step = 4;
  CHECK(told(news, status).empty());
  status.phase = JobPhase::failed;
  status.failure = "the disk is gone";
  CHECK(told(news, status) == Lines{"failed at step 4 of 9: the disk is gone"});
}

TEST_CASE("whom the job waits for is told when it begins to wait, not whenever that changes") {
  LeadNews news;
  auto status = training();
  status.waits_for = "shard 1";
  told(news, status);
  status.waits_for = "shard 2";
  CHECK(told(news, status).empty());
  status.waits_for.clear();
  CHECK(told(news, status).empty());
  status.waits_for = "shard 1";
  CHECK(told(news, status) == Lines{"warn: waiting for shard 1"});
}

TEST_CASE("trouble is told when it comes and when it changes, and not when it is over") {
  LeadNews news;
  auto status = training();
  told(news, status);
  status.trouble = "shard 1: full";
  CHECK(told(news, status).size() == 1);
  CHECK(told(news, status).empty());
  status.trouble.clear();
  CHECK(told(news, status).empty());
}

TEST_CASE("workers are told of when they come and go; a name that two live under is warned of") {
  LeadNews news;
  auto status = training();
  status.sessions = {session(1, "a", true)};
  CHECK(told(news, status).back() == "worker a joined");
  status.sessions.push_back(session(2, "a", true));
  const auto lines = told(news, status);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "worker a joined");
  CHECK(lines[1].find("warn: another live worker is called a as well") == 0);
  status.sessions[0].live = false;
  CHECK(told(news, status) == Lines{"worker a left"});
  status.sessions[0].refusal = "other data";
  CHECK(told(news, status).empty());
}

TEST_CASE(
    "a worker that is held up for seconds is told of once, with the reason of then, and once more when it is over") {
  LeadNews news;
  auto status = training();
  status.training = 60'000'000;
  status.sessions = {session(1, "a", true), session(2, "b", true)};
  told(news, status);
  status.sessions[1].held_up = "it is silent";
  CHECK(told(news, status).empty());
  status.training += 4'900'000;
  CHECK(told(news, status).empty());
  status.training += 200'000;
  status.sessions[1].held_up = "slot 3 of step 9 takes 5000 ms, one of its slots 20 ms";
  CHECK(told(news, status) ==
        Lines{"warn: worker b is not counted on: slot 3 of step 9 takes 5000 ms, one of its slots 20 ms"});
  status.training += 20'000'000;
  status.sessions[1].held_up = "slot 3 of step 9 takes 25000 ms, one of its slots 20 ms";
  CHECK(told(news, status).empty());
  status.sessions[1].held_up.clear();
  CHECK(told(news, status) == Lines{"worker b is counted on again"});
  CHECK(told(news, status).empty());
}

TEST_CASE("what holds a worker up for a moment is not told, however often it comes again") {
  LeadNews news;
  auto status = training();
  status.sessions = {session(1, "a", true)};
  told(news, status);
  for (int turn = 0; turn < 10; ++turn) {
    status.sessions[0].held_up = turn % 2 == 0 ? "it is silent" : "";
    CHECK(told(news, status).empty());
    status.training += 4'000'000;
    CHECK(told(news, status).empty());
  }
}

TEST_CASE("nobody is counted on again by the end of a phase, or by being lost") {
  LeadNews news;
  auto status = training();
  status.sessions = {session(1, "a", true)};
  told(news, status);
  status.sessions[0].held_up = "it is silent";
  told(news, status);
  status.training += 6'000'000;
  CHECK(told(news, status).size() == 1);
  status.phase = JobPhase::evaluating;
  status.sessions[0].held_up.clear();
  CHECK(told(news, status) == Lines{"evaluating at step 3 of 9"});
  status.phase = JobPhase::training;
  status.sessions[0].held_up = "it is silent";
  CHECK(told(news, status) == Lines{"training at step 3 of 9"});
  status.sessions[0].held_up.clear();
  status.sessions[0].live = false;
  status.lost_workers = 1;
  CHECK(told(news, status) ==
        Lines{"worker a was lost: it said no goodbye, and has not been heard of for too long; it was not counted on "
              "for the last 6 s: it is silent"});
}

TEST_CASE("a worker that is lost is told from one that has left, as far as the lead's count tells it") {
  const std::string lost = " was lost: it said no goodbye, and has not been heard of for too long";
  LeadNews news;
  auto status = training();
  status.lost_workers = 4;  // before this log began
  status.sessions = {session(1, "a", true), session(2, "b", true), session(3, "c", true),
                     session(4, "d", true), session(5, "e", true), session(6, "f", true)};
  told(news, status);
  status.sessions[0].live = false;
  CHECK(told(news, status) == Lines{"worker a left"});
  status.sessions[1].live = false;
  status.lost_workers = 5;
  CHECK(told(news, status) == Lines{"worker b" + lost});
  CHECK(told(news, status).empty());
  status.sessions[2].live = false;
  status.sessions[3].live = false;
  status.lost_workers = 7;
  CHECK(told(news, status) == Lines{"worker c" + lost, "worker d" + lost});
  status.sessions[4].live = false;  // one of these two, and the count does not say which
  status.sessions[5].live = false;
  status.lost_workers = 8;
  CHECK(told(news, status) == Lines{"worker e left or was lost", "worker f left or was lost"});
}

TEST_CASE("of a lost worker that was held up before it is told for how long and why") {
  LeadNews news;
  auto status = training();
  status.sessions = {session(1, "a", true)};
  told(news, status);
  status.sessions[0].held_up = "slot 3 takes long";
  told(news, status);
  status.training += 1'500'000;
  status.sessions[0].held_up = "it is silent";
  told(news, status);
  status.training += 1'000'000;
  status.sessions[0].held_up.clear();
  status.sessions[0].live = false;
  status.lost_workers = 1;
  CHECK(told(news, status) ==
        Lines{"worker a was lost: it said no goodbye, and has not been heard of for too long; it was not counted on "
              "for the last 2 s: it is silent"});
}

TEST_CASE("a session that the lead has forgotten is forgotten, and is a new one if it comes again") {
  LeadNews news;
  auto status = training();
  status.sessions = {session(1, "a", true), session(2, "b", true)};
  told(news, status);
  status.sessions = {session(2, "b", true)};
  CHECK(told(news, status).empty());
  status.sessions = {session(1, "a", true), session(2, "b", true)};
  CHECK(told(news, status) == Lines{"worker a joined"});
}

// Lines of one kind are held back when they come again and again, of no more than so many kinds.
TEST_CASE("of however many names something is told, it is of a handful of kinds") {
  constexpr SessionId kNames = 2'000;
  LeadNews news;
  std::set<std::string> kinds;
  std::size_t lines = 0;
  const auto tell = [&](const Status& status) {
    for (const auto& line : news.of(status)) {
      kinds.emplace(line.kind);
      ++lines;
    }
  };
  auto status = training();
  for (SessionId id = 1; id <= kNames; ++id) {
    const auto name = "worker " + std::to_string(id);
    status.sessions = {session(2 * id, name, true), session(2 * id + 1, name, true)};
    tell(status);
    for (auto& one : status.sessions) {
      one.held_up = name + " is slow";
    }
    tell(status);
    status.training += 6'000'000;
    status.waits_for = name;
    status.trouble = name + " is in trouble";
    status.data.value = name;
    tell(status);
    status.sessions[0].held_up.clear();
    status.waits_for.clear();
    status.trouble.clear();
    tell(status);
    status.sessions[0].live = false;
    status.sessions[0].refusal = name + " has other data";
    status.sessions[1].live = false;
    status.lost_workers += id % 2;
    tell(status);
  }
  CHECK(lines > 8 * kNames);
  CHECK(kinds.size() <= 8);
}

}  // namespace
}  // namespace ballast
