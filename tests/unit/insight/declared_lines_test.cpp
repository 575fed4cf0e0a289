#include "insight/declared_lines.h"

#include <doctest/doctest.h>

#include <vector>

#include "insight/mending.h"
#include "insight/suspects.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

constexpr double kGigabit = 125 * 0.94;  // of payload, bytes a microsecond

TraceRecord line_of(std::uint64_t machine, std::uint64_t megabits) {
  return {5, machine, 1'000, megabits * 125'000, 0, 0, 0, {}, TraceKind::line};
}

// Two workers and as many shards of a lane each, by what they said of their lines.
struct Declared {
  explicit Declared(const std::vector<TraceRecord>& workers, const std::vector<TraceRecord>& shards)
      : times(job_of(workers.size(), static_cast<Slot>(4 * workers.size()))) {
    times.lanes.clear();
    times.shards.clear();
    for (const auto& record : workers) {
      trace.processes.push_back({{TraceRole::worker, {}, trace.processes.size()}, "w", ClockReading{}, {record}});
    }
    for (const auto& record : shards) {
      const auto shard = static_cast<std::uint32_t>(times.shards.size());
      times.lanes.push_back({.name = "lane", .process = trace.processes.size(), .shard = shard});
      times.shards.push_back({});
      trace.processes.push_back({{TraceRole::lane, {shard, 0}, 0}, "lane", ClockReading{}, {record}});
    }
    add_declared_lines(trace, times);
  }

  JobTrace trace;
  JobTimes times;
};

TEST_CASE("declared lines: a worker's is known, and what is usual of them if all say theirs") {
  const Declared all({line_of(1, 1'000), line_of(2, 1'000)}, {line_of(3, 2'000)});
  CHECK(all.times.workers[0].line == doctest::Approx(kGigabit));
  CHECK(all.times.line == doctest::Approx(kGigabit));
  const Declared one({line_of(1, 1'000), line_of(2, 0)}, {line_of(3, 2'000)});
  CHECK(one.times.workers[0].line == doctest::Approx(kGigabit));
  CHECK(one.times.workers[1].line == 0);
  CHECK(one.times.line == 0);
}

TEST_CASE("declared lines: workers of one machine have each their part of its link") {
  const Declared job({line_of(1, 1'000), line_of(1, 1'000), line_of(2, 1'000)}, {line_of(3, 2'000)});
  CHECK(job.times.workers[0].line == doctest::Approx(kGigabit / 2));
  CHECK(job.times.workers[2].line == doctest::Approx(kGigabit));
}

TEST_CASE("declared lines: shards of one machine share its link, others have their own") {
  const Declared shared({line_of(1, 1'000)}, {line_of(3, 2'000), line_of(3, 2'000)});
  CHECK(shared.times.servers.line == doctest::Approx(2 * kGigabit));
  CHECK(shared.times.shards[1].line == doctest::Approx(kGigabit));
  const Declared apart({line_of(1, 1'000)}, {line_of(3, 2'000), line_of(4, 1'000), line_of(3, 2'000)});
  CHECK(apart.times.servers.line == 0);
  CHECK(apart.times.shards[0].line == doctest::Approx(kGigabit));
  CHECK(apart.times.shards[1].line == doctest::Approx(kGigabit));
  const Declared part({line_of(1, 1'000)}, {line_of(3, 2'000), line_of(3, 0)});
  CHECK(part.times.servers.line == 0);
  CHECK(part.times.shards[0].line == 0);
}

TEST_CASE("declared lines: what was in nobody's way carries as much, and what was seen what was seen") {
  Declared shared({line_of(1, 1'000)}, {line_of(3, 2'000), line_of(3, 2'000)});
  shared.times.servers.in = 50;
  shared.times.workers[0].up = 30;
  fill_in_declared(shared.times);
  CHECK(shared.times.servers.in == 50);
  CHECK(shared.times.servers.out == doctest::Approx(2 * kGigabit));
  CHECK(shared.times.shards[0].in == 0);
  CHECK(shared.times.workers[0].up == 30);
  CHECK(shared.times.workers[0].down == doctest::Approx(kGigabit));
  Declared apart({line_of(1, 0)}, {line_of(3, 1'000), line_of(4, 1'000)});
  fill_in_declared(apart.times);
  CHECK(apart.times.servers.in == 0);
  CHECK(apart.times.shards[1].out == doctest::Approx(kGigabit));
  CHECK(apart.times.workers[0].up == 0);
}

TEST_CASE("declared lines: nothing carries more than its machine's line") {
  Declared job({line_of(1, 1'000), line_of(2, 1'000), line_of(5, 1'000), line_of(5, 1'000)},
               {line_of(3, 2'000), line_of(3, 2'000)});
  job.times.servers.in = 2.2 * kGigabit;
  job.times.workers[0].up = 1.2 * kGigabit;
  job.times.workers[2].up = 0.7 * kGigabit;  // of a half
  job.times.workers[3].up = 1.2 * kGigabit;
  fill_in_declared(job.times);
  CHECK(job.times.servers.in == doctest::Approx(2 * kGigabit * 0.99 / 0.94));
  CHECK(job.times.workers[0].up == doctest::Approx(kGigabit * 0.99 / 0.94));
  CHECK(job.times.workers[2].up == doctest::Approx(0.7 * kGigabit));
  CHECK(job.times.workers[3].up == doctest::Approx(kGigabit * 0.99 / 0.94));
}

TEST_CASE(
    "declared lines: the link of all servers is suspected where it carries much less, and mended it carries all") {
  Declared shared({line_of(1, 1'000), line_of(2, 1'000)}, {line_of(3, 2'000), line_of(3, 2'000)});
  shared.times.servers.in = shared.times.servers.seen_in = 100;
  const auto found = suspects(shared.times, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0] == Suspect{Cause::server_link, 2});
  CHECK(found[0].severity == doctest::Approx(2.35));
  CHECK(Mending(shared.times, found).mended(found).servers.in == doctest::Approx(2 * kGigabit));
  shared.times.servers.seen_in = 200;
  CHECK(suspects(shared.times, {}).empty());
}

TEST_CASE("declared lines: a worker's link mended is as the others', at most its line") {
  Declared job({line_of(1, 400), line_of(2, 1'000), line_of(4, 1'000)}, {line_of(3, 2'000)});
  job.times.workers[0].up = 5;
  job.times.workers[1].up = job.times.workers[2].up = 100;
  const std::vector<Suspect> one = {{Cause::worker_link, 0, 20}};
  CHECK(Mending(job.times, one).mended(one).workers[0].up == doctest::Approx(0.4 * kGigabit));
}

}  // namespace
}  // namespace ballast::insight
