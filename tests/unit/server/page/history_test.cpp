#include "server/page/history.h"

#include <doctest/doctest.h>

#include <cmath>

namespace ballast {
namespace {

Status at_step(Step step) {
  Status status;
  status.phase = JobPhase::training;
  status.timeline = 1;
  status.step = step;
  status.recent_loss = 0.5;
  return status;
}

TEST_CASE("what changes between two statuses is an event") {
  History history;
  history.note(at_step(1), 10);
  auto status = at_step(2);
  status.snapshot = 2;
  status.skipped_steps = 1;
  status.resumed_shards = 1;
  history.note(status, 20);
  status.timeline = 2;
  status.base.step = 1;
  status.rolled_back_steps = 1;
  history.tell("session", "worker a left", false);
  history.note(status, 30);
  const auto part = history.since({});
  REQUIRE(part.events.size() == 4);
  CHECK(part.events[0].kind == "setback");
  CHECK(part.events[0].is_wrong);
  CHECK(part.events[1].kind == "shard");
  CHECK_FALSE(part.events[1].is_wrong);
  CHECK(part.events[2].text == "worker a left");
  CHECK(part.events[3].kind == "rollback");
  CHECK(part.events[3].at == 30);
  CHECK(part.events[3].step == 2);
  REQUIRE(part.snapshots.size() == 1);
  CHECK(part.snapshots[0].step == 2);
}

TEST_CASE("before a step is done there is no loss") {
  History history;
  history.note(at_step(0), 10);
  CHECK(std::isnan(history.since({}).points.at(0).loss));
}

TEST_CASE("who knows something is told what has come since, and the point that may have changed") {
  History history;
  for (Micros at = 0; at < 9; ++at) {
    history.tell("phase", "one", false);
    history.note(at_step(at), at);
  }
  const auto known = history.since({});
  CHECK(known.counts == history.counts());
  CHECK(known.points.size() == 3);
  history.tell("phase", "another", true);
  history.note(at_step(9), 9);
  const auto part = history.since(known.counts);
  CHECK(part.first_point == 2);
  CHECK(part.points.size() == 1);
  REQUIRE(part.events.size() == 1);
  CHECK(part.events[0].text == "another");
}

TEST_CASE("who knew finer points is told all of them anew") {
  History history;
  history.note(at_step(1), 1);
  const auto known = history.counts();
  for (Micros at = 0; at < Curve::kPoints * Curve::kSamples; ++at) {
    history.note(at_step(at), at);
  }
  CHECK(history.since(known).first_point == 0);
}

TEST_CASE("events are bounded: in number, at once, and in length") {
  History history;
  for (std::size_t i = 0; i < 2 * History::kEvents; ++i) {
    history.tell("trouble", std::string(10'000, 'x') + "\n\x1b[2J", true);
    auto status = at_step(i);
    status.snapshot = i;
    history.note(status, i);
  }
  for (int i = 0; i < 1'000; ++i) {
    history.tell("session", "worker joined", false);
  }
  history.note(at_step(5), 5);
  const auto part = history.since({});
  CHECK(part.events.size() == History::kEvents);
  CHECK(part.snapshots.size() == History::kSnapshots);
  CHECK(part.events.front().text.size() <= History::kTextBytes);
  CHECK(part.events.back().text == "and 976 more events at the same time");
  CHECK(part.counts.events == 2 * History::kEvents + History::kAtOnce + 1);
}

}  // namespace
}  // namespace ballast
