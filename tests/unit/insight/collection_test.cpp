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
  const auto add = [&](const char* name, bool live, const char* refusal, const char* held_up) {
    SessionStatus session;
    session.name = name;
    session.live = live;
    session.refusal = refusal;
    session.held_up = held_up;
    sessions.push_back(session);
  };
  sessions.front().live = true;
  add("gone", false, "", "");
  add("gone", false, "", "");
  add("back", false, "", "");
  add("back", true, "", "");
  add("late", true, "", "not heard of for 900 ms");
  add("other", true, "other data", "");
  add("left refused", false, "other data", "");
  const auto absent_in = [&] {
    Told told;
    told.records = {{kCollectedLane, 5}, {kCollectedWorker, 3}};
    return collect(asked.status, asked.who, 20, 1'000, std::ref(told)).trace.absent;
  };
  asked.status.phase = JobPhase::training;
  CHECK(absent_in() == std::vector<Absent>{{"worker gone", "has gone, and is not back"},
                                           {"worker late", "is not counted on: not heard of for 900 ms"},
                                           {"worker other", "is refused: other data"}});
  asked.status.phase = JobPhase::finishing;  // all go
  CHECK(absent_in().empty());
  asked.status.phase = JobPhase::training;
  for (int i = 0; i < 150; ++i) {
    add(("w" + std::to_string(i)).c_str(), false, "", "");
  }
  CHECK(absent_in().size() == 100);
}

}  // namespace
}  // namespace ballast::insight
