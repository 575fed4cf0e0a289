#include "insight/worker_stops.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

// A contribution to each of two lanes in each of ten steps, which the kernel has after a millisecond.
ProcessTrace sends() {
  ProcessTrace worker;
  for (Step step = 0; step < 10; ++step) {
    for (std::uint64_t lane = 0; lane < 2; ++lane) {
      const Micros at = 1'000'000 + 200'000 * step;
      worker.records.push_back({step, lane, at, at, at + 1'000, 0, 0, {}, TraceKind::push});
    }
  }
  return worker;
}

TEST_CASE("worker stops: contributions to all lanes that leave late are one, those to one lane wait for it") {
  const JobTrace trace;
  const Peers peers(trace);
  auto worker = sends();
  worker.records[8].third += 150'000;
  CHECK(worker_stops(peers, worker, 0, 10) == std::vector<double>(10, 0));
  worker.records[9].third += 120'000;
  const auto stops = worker_stops(peers, worker, 0, 10);
  CHECK(stops[4] == 120'000);
  CHECK(std::accumulate(stops.begin(), stops.end(), 0.0) == 120'000);
}

// Two slots a step from step 5 on, each 100 ms, but of step 8 one; and nothing for `silent` microseconds from its end
// on.
ProcessTrace given_up(Micros silent) {
  ProcessTrace worker;
  Micros now = 10'000'000;
  for (Step step = 5; step < 15; ++step) {
    for (Slot slot = 0; slot < (step == 8 ? 1U : 2U); ++slot) {
      worker.records.push_back({step, 0, now, now, now + 50'000, now + 100'000, 0, {slot, slot + 1}, TraceKind::slot});
      now += 100'000;
    }
    now += step == 8 ? silent : 0;
  }
  return worker;
}

WorkerTimes of_ten_steps() {
  auto times = job_of(2, 4).workers[0];
  times.stops.assign(10, 0);
  return times;
}

TEST_CASE("worker stops: who is given up in the midst of a step stood still for as long as it said nothing") {
  auto times = of_ten_steps();
  add_silences(given_up(2'000'000), 5, times);
  CHECK(times.stops == std::vector<double>{0, 0, 0, 2'000'000, 0, 0, 0, 0, 0, 0});
  auto has_done_all = given_up(2'000'000);  // but not looked at its connections, as it did before
  has_done_all.records.push_back({5, 0, 10'100'000, 500, 0, 1, 0, {}, TraceKind::link});
  has_done_all.records.push_back({8, 0, 10'650'000, 10'650'000, 10'660'000, 10'690'000, 0, {1, 2}, TraceKind::slot});
  times = of_ten_steps();
  add_silences(has_done_all, 5, times);
  CHECK(times.stops[3] == 2'000'000);
}

TEST_CASE(
    "worker stops: who has done what he has to, looks at his connections, or is silent for less long has not stood "
    "still") {
  const std::vector<double> none(10, 0);
  auto times = of_ten_steps();
  add_silences(given_up(1'000'000), 5, times);
  CHECK(times.stops == none);
  auto looks = given_up(2'000'000);
  looks.records.push_back({8, 0, 11'700'000, 500, 0, 1, 0, {}, TraceKind::link});
  add_silences(looks, 5, times);
  CHECK(times.stops == none);
  auto has_done_all = given_up(2'000'000);
  has_done_all.records.push_back({8, 0, 10'650'000, 10'650'000, 10'660'000, 10'690'000, 0, {1, 2}, TraceKind::slot});
  add_silences(has_done_all, 5, times);
  CHECK(times.stops == none);
  times.stops[4] = 1'900'000;  // the next step's weights show it
  add_silences(given_up(2'000'000), 5, times);
  CHECK(times.stops[3] == 0);
  times = of_ten_steps();
  auto seldom = given_up(2'000'000);  // of a thousand lanes
  for (Micros at = 10'100'000; at < 40'000'000; at += 10'000'000) {
    seldom.records.push_back({5, 0, at, 500, 0, 1, 0, {}, TraceKind::link});
  }
  seldom.records.push_back({8, 0, 10'650'000, 10'650'000, 10'660'000, 10'690'000, 0, {1, 2}, TraceKind::slot});
  add_silences(seldom, 5, times);
  CHECK(times.stops == none);
  auto known = given_up(2'000'000);  // the slot itself shows it
  known.records.push_back({8, 0, 10'700'000, 10'700'000, 10'800'000, 12'700'000, 0, {1, 2}, TraceKind::slot});
  add_silences(known, 5, times);
  CHECK(times.stops == none);
}

}  // namespace
}  // namespace ballast::insight
