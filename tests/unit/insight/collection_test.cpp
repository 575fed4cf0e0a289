#include "insight/collection.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace ballast::insight {
namespace {

const TraceSource kCollectedLane{TraceRole::lane, {0, 0}, 0};
const TraceSource kCollectedWorker{TraceRole::worker, {}, 9};

// What each process has, told in parts of two records.
class Told {
 public:
  std::map<TraceSource, std::size_t> records;

  std::optional<TracePart> operator()(const TraceAsked& asked) {
    first_ = asked.first;
    const auto found = records.find(*asked.source);
    if (found == records.end()) {
      return std::nullopt;
    }
    TracePart part;
    const auto count = std::min<std::size_t>(found->second - asked.from, 2);
    TraceRecord record;
    record.kind = asked.source->role == TraceRole::worker ? TraceKind::slot : TraceKind::update;
    part.records.assign(count, record);
    part.next = asked.from + count;
    part.ends = part.next == found->second;
    return part;
  }
  [[nodiscard]] Step first() const { return first_; }

 private:
  Step first_ = 0;
};

struct Asked {
  Status status;
  TracePart who;

  Asked() {
    status.job = "a";
    status.step = 100;
    status.sessions.resize(1);
    status.sessions[0].session = kCollectedWorker.session;
    status.sessions[0].name = "w";
    who.sources = {kCollectedLane, kCollectedWorker};
  }
};

TEST_CASE("collection: of everybody, part by part, from so many steps back on") {
  Asked asked;
  asked.status.mode = "async";
  Told told;
  told.records = {{kCollectedLane, 5}, {kCollectedWorker, 3}};
  const auto found = collect(asked.status, asked.who, 20, 1'000, std::ref(told));
  CHECK(told.first() == 80);
  CHECK(found.trace.mode == "async");
  REQUIRE(found.trace.processes.size() == 2);
  CHECK(found.trace.processes[0].records.size() == 5);
  CHECK(found.trace.processes[1].name == "worker w");
  CHECK(found.trace.processes[1].records.size() == 3);
  CHECK(found.trace.silent.empty());
  CHECK_FALSE(found.is_full);
  CHECK(std::ranges::all_of(found.trace.processes, &ProcessTrace::told_all));
}

TEST_CASE("collection: who does not answer is named") {
  Asked asked;
  Told told;
  told.records = {{kCollectedLane, 1}};
  const auto found = collect(asked.status, asked.who, 20, 1'000, std::ref(told));
  CHECK(found.trace.silent == std::vector<std::string>{"worker w"});
  CHECK_FALSE(found.is_full);
  CHECK(found.trace.processes[0].told_all);
  CHECK_FALSE(found.trace.processes[1].told_all);
}

TEST_CASE("collection: who tells a part and no more has not told all") {
  Asked asked;
  Told told;
  told.records = {{kCollectedLane, 5}, {kCollectedWorker, 3}};
  const auto found = collect(asked.status, asked.who, 20, 1'000, [&](const TraceAsked& question) {
    return question.from >= 4 ? std::nullopt : told(question);
  });
  CHECK(found.trace.silent == std::vector<std::string>{"shard 0 lane 0"});
  CHECK(found.trace.processes[0].records.size() == 4);
  CHECK_FALSE(found.trace.processes[0].told_all);
  CHECK(found.trace.processes[1].told_all);
}

TEST_CASE("collection: no more than the most, and who has more is named") {
  Asked asked;
  Told told;
  told.records = {{kCollectedLane, 5}, {kCollectedWorker, 3}};
  const auto found = collect(asked.status, asked.who, 20, 4, std::ref(told));
  CHECK(found.is_full);
  CHECK(found.trace.processes[0].records.size() == 4);
  CHECK_FALSE(found.trace.processes[0].told_all);
  CHECK(found.trace.silent == std::vector<std::string>{"shard 0 lane 0", "worker w"});
}

TEST_CASE("collection: workers that bring nothing are said, and why") {
  Asked asked;
  auto& sessions = asked.status.sessions;
  const auto add = [&](const std::string& name, bool live, Step step = 0) -> SessionStatus& {
    auto& session = sessions.emplace_back();
    session.name = name;
    session.live = live;
    session.step = step;
    return session;
  };
  sessions.front().live = true;
  add("gone", false, 40);
  add("gone", false, 57);
  add("earlier", false, 12);
  add("back", false, 50);
  add("back", true);
  add("left", false, 60).said_goodbye = true;
  add("late", true).held_up = "not heard of for 900 ms";
  add("other", false).refusal = "other data";
  add("other", false).refusal = "other data";
  add("let in", false).refusal = "other data";
  add("let in", true);
  const auto absent_in = [&] {
    Told told;
    told.records = {{kCollectedLane, 5}, {kCollectedWorker, 3}};
    return collect(asked.status, asked.who, 20, 1'000, std::ref(told)).trace.absent;
  };
  asked.status.phase = JobPhase::training;
  CHECK(absent_in().count == 4);
  CHECK(absent_in().first == std::vector<Absent>{{"worker late", "is not counted on: not heard of for 900 ms"},
                                                 {"worker other", "is refused: other data"},
                                                 {"worker gone", "was lost at step 57, and is not back"},
                                                 {"worker earlier", "was lost at step 12, and is not back"}});
  asked.status.waits_for = "shard 1";  // then nobody is counted on
  CHECK(absent_in().first[0].who == "worker other");
  asked.status.waits_for.clear();
  asked.status.phase = JobPhase::finishing;  // all go
  CHECK(absent_in() == AllAbsent{});
  asked.status.phase = JobPhase::training;
  for (int i = 0; i < 150; ++i) {
    add("w" + std::to_string(i), false, 100);
  }
  CHECK(absent_in().count == 154);
  CHECK(absent_in().first.size() == 100);
  CHECK(absent_in().first[0].who == "worker late");
}

TEST_CASE("collection: what the whole job waits for is said") {
  Asked asked;
  std::size_t lane_records = 5;
  const auto held_in = [&] {
    Told told;
    told.records = {{kCollectedLane, lane_records}, {kCollectedWorker, 3}};
    if (lane_records == 0) {
      told.records.erase(kCollectedLane);
    }
    return collect(asked.status, asked.who, 20, 1'000, std::ref(told)).trace.held;
  };
  asked.status.phase = JobPhase::training;
  CHECK(held_in().empty());
  lane_records = 0;
  CHECK(held_in() == "shard 0 lane 0 does not answer");
  asked.status.waits_for = "shard 1 (lane 0), not heard of for 7420 ms";
  CHECK(held_in() == "it waits for shard 1 (lane 0), not heard of for 7420 ms");
  asked.status.phase = JobPhase::paused;
  CHECK(held_in() == "its user has paused it");
}

}  // namespace
}  // namespace ballast::insight
