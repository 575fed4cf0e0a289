#include "insight/standstills.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "insight/replay.h"
#include "insight/verdict.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

constexpr Micros kStandSecond = 1'000'000;

// Tells each tenth of a second what it does, but for those that are said: `after` the begin, for so long it does not.
ProcessTrace lane_that_stands(std::uint32_t shard, std::uint32_t number,
                              const std::vector<std::pair<Micros, Micros>>& stops, Micros each = kStandSecond / 10) {
  ProcessTrace lane;
  lane.source = {TraceRole::lane, {shard, number}, 0};
  lane.clock = ClockReading{10 * kStandSecond, 10 * kStandSecond, 0, 0};
  for (Micros now = 10 * kStandSecond; now < 30 * kStandSecond;) {
    auto until = now + each;
    for (const auto& [after, span] : stops) {
      until += now <= 10 * kStandSecond + after && 10 * kStandSecond + after < now + each ? span : 0;
    }
    TraceRecord record;
    record.kind = TraceKind::work;
    record.first = now;
    record.second = until;
    lane.records.push_back(record);
    now = until;
  }
  return lane;
}

constexpr TimeSpan kLooked = {12 * kStandSecond, 28 * kStandSecond};

std::vector<double> seconds_of(const std::vector<ProcessTrace>& lanes, std::size_t shards) {
  std::vector<const ProcessTrace*> all;
  for (const auto& lane : lanes) {
    all.push_back(&lane);
  }
  auto seconds = standstills_of_shards(all, shards, kLooked);
  for (auto& each : seconds) {
    each /= kStandSecond;
  }
  return seconds;
}

TEST_CASE("standstills: a lane that told nothing for a while stood still, and its shard with it") {
  CHECK(seconds_of({lane_that_stands(0, 0, {}), lane_that_stands(1, 0, {})}, 2) == std::vector<double>{0, 0});
  const auto one =
      seconds_of({lane_that_stands(0, 0, {}), lane_that_stands(1, 0, {{5 * kStandSecond, 3 * kStandSecond}})}, 2);
  CHECK(one[0] == 0);
  CHECK(one[1] == doctest::Approx(3));
  // Both lanes of a shard; and what lies in the time that is looked at.
  const auto both =
      seconds_of({lane_that_stands(0, 0, {{5 * kStandSecond, 3 * kStandSecond}, {kStandSecond / 2, 2 * kStandSecond}}),
                  lane_that_stands(0, 1, {{6 * kStandSecond, 3 * kStandSecond}})},
                 1);
  CHECK(both[0] == doctest::Approx(4 + 0.6).epsilon(0.03));
}

TEST_CASE("standstills: of two shards that stood still at once it is counted once") {
  const auto both = seconds_of({lane_that_stands(0, 0, {{5 * kStandSecond, 3 * kStandSecond}}),
                                lane_that_stands(1, 0, {{6 * kStandSecond, 3 * kStandSecond}})},
                               2);
  CHECK(both[0] == doctest::Approx(3));
  CHECK(both[1] == doctest::Approx(1));
}

TEST_CASE("standstills: a lane that starves tells all of it late, and stands still for none of it") {
  CHECK(seconds_of({lane_that_stands(0, 0, {}, kStandSecond / 2)}, 1) == std::vector<double>{0});
  const auto longer = seconds_of({lane_that_stands(0, 0, {{5 * kStandSecond, 3 * kStandSecond}}, kStandSecond / 2)}, 1);
  CHECK(longer[0] > 2.9);
}

TEST_CASE("standstills: what messages and records took while a lane stood still says nothing of links and disks") {
  JobTrace trace;
  trace.processes = {lane_that_stands(0, 0, {{5 * kStandSecond, 3 * kStandSecond}}), lane_that_stands(1, 0, {}), {}};
  trace.processes[2].source = {TraceRole::worker, {}, 7};
  trace.processes[2].clock = ClockReading{kStandSecond, 11 * kStandSecond, 0, 0};  // ten seconds behind
  const auto add = [&](std::size_t process, TraceKind kind, std::uint64_t peer, std::vector<double> seconds) {
    TraceRecord record;
    record.kind = kind;
    record.peer = peer;
    record.first = static_cast<Micros>(seconds.at(0) * kStandSecond);
    record.second = static_cast<Micros>(seconds.at(1) * kStandSecond);
    record.third = static_cast<Micros>(seconds.at(2) * kStandSecond);
    trace.processes[process].records.push_back(record);
  };
  // It stands from 15 to 18 s; of messages one moment is of the other one's clock.
  for (const std::size_t lane : {0, 1}) {
    add(lane, TraceKind::contribution, 7, {6, 18.1, 18.2});
    add(lane, TraceKind::contribution, 7, {9, 19.1, 19.2});
    add(lane, TraceKind::journal, 0, {14, 18.2, 0});
    add(lane, TraceKind::journal, 0, {19, 19.2, 0});
    add(2, TraceKind::pull, lane, {3, 14.9, 8.3});
    add(2, TraceKind::pull, lane, {8, 19, 9.1});
  }
  const auto found = without_standstills(trace);
  const auto of = [&](std::size_t process, TraceKind kind) {
    std::vector<TraceRecord> all;
    std::ranges::copy_if(found.processes[process].records, std::back_inserter(all),
                         [kind](const TraceRecord& record) { return record.kind == kind; });
    return all;
  };
  CHECK(of(0, TraceKind::contribution)[0].first == 0);
  CHECK(of(0, TraceKind::contribution)[1].first == 9 * kStandSecond);
  CHECK(of(1, TraceKind::contribution)[0].first == 6 * kStandSecond);
  CHECK(of(0, TraceKind::journal).size() == 1);
  CHECK(of(1, TraceKind::journal).size() == 2);
  const auto pulls = of(2, TraceKind::pull);
  REQUIRE(pulls.size() == 4);
  CHECK(pulls[0].second == 0);
  CHECK(pulls[1].second == 19 * kStandSecond);
  CHECK(pulls[2].second != 0);
}

TEST_CASE("standstills: they are the server's, in seconds, and the job is as it is without them") {
  auto times = job_of(3, 3);
  const auto usual = *replay(times);
  times.shards.resize(2);
  times.standstills = {0, usual};  // of each step
  times.step = 2 * usual;
  const auto told = verdict(times, {});
  REQUIRE(told);
  REQUIRE(told->found.size() == 1);
  CHECK(told->found[0].cause == Cause::passing);
  CHECK(told->found[0].who == "shard 1");
  CHECK(told->found[0].gain == doctest::Approx(2).epsilon(0.05));
  CHECK(told->found[0].lost == doctest::Approx(usual * static_cast<double>(times.steps) / 1e6).epsilon(0.05));
  CHECK_FALSE(told->is_far());
}

}  // namespace
}  // namespace ballast::insight
