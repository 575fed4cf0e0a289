#include "insight/passing_stops.h"

#include <doctest/doctest.h>

#include "insight/replay.h"
#include "insight/suspects.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

constexpr double kStep = 400'000;

// Four slots a worker and step, and a worker that stops in the fifth for `stop`: the step takes `more`, the next one
// 20 ms more.
struct Stopping {
  JobTimes times;
  std::vector<double> took;

  Stopping(double stop, double more, std::size_t workers = 3)
      : times(job_of(workers, static_cast<Slot>(4 * workers))), took(times.steps, kStep) {
    times.step = kStep;
    times.workers[1].slots[4][2] += stop;
    took[4] += more;
    took[5] += 20'000;
  }
  [[nodiscard]] double lost(std::size_t worker) const {
    return times.workers[worker].lost * static_cast<double>(times.steps);
  }
};

TEST_CASE("stops cost what steps took longer, and no slot shows them any more") {
  Stopping job(300'000, 290'000);
  take_out_stops(job.took, job.times);
  CHECK(job.lost(1) == doctest::Approx(310'000));
  CHECK(job.times.workers[1].odd == doctest::Approx(300'000));
  CHECK(job.times.workers[1].slots[4][2] == kSlot);
  CHECK(job.lost(0) == 0);
  CHECK(*replay(job.times) == doctest::Approx(kStep + 31'000).epsilon(0.001));
  const auto found = suspects(job.times, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].cause == Cause::passing);
  CHECK(found[0].place == 1);
}

TEST_CASE("a stop that lasts for several steps costs what all of them took longer, though no other one is left") {
  Stopping job(0, 0);
  job.times.steps = 5;
  for (auto& worker : job.times.workers) {
    worker.slots.resize(job.times.steps);
  }
  job.times.step = kStep + 120'000;
  job.took.assign(5, kStep + 120'000);
  job.times.workers[1].slots[0][2] += 2'200'000;  // while the others do without it
  for (std::size_t step = 1; step < 5; ++step) {
    job.times.workers[1].slots[step].clear();
  }
  take_out_stops(job.took, job.times);
  CHECK(job.lost(1) == doctest::Approx(600'000).epsilon(0.02));
  CHECK(job.times.workers[1].odd == doctest::Approx(2'200'000));
}

TEST_CASE("a stop that keeps nobody waiting costs nothing") {
  Stopping job(300'000, 0);
  job.took[5] = kStep - 1'000;
  take_out_stops(job.took, job.times);
  CHECK(job.lost(1) == 0);
  CHECK(job.times.workers[1].odd > 0);
}

TEST_CASE("of two that stop in one step the one that stopped for longer has its cost") {
  Stopping job(300'000, 290'000, 5);
  job.times.workers[2].stops.assign(job.times.steps, 0);
  job.times.workers[2].stops[4] = 200'000;
  job.times.workers[2].stops[8] = 200'000;
  job.took[8] += 200'000;
  take_out_stops(job.took, job.times);
  CHECK(job.lost(1) == doctest::Approx(310'000));
  CHECK(job.lost(2) == doctest::Approx(200'000));
  CHECK(job.times.workers[2].stops[8] == 0);
}

TEST_CASE("stops in every second step cost what those took longer, and where nearly all steps have some they stay") {
  Stopping second(0, 0);
  auto& own = second.times.workers[1];
  for (std::size_t step = 0; step < second.times.steps; step += 2) {
    own.slots[step][0] += 300'000;
    second.took[step] = kStep + 300'000;
  }
  second.took[5] = kStep;
  const auto as_it_was = second;
  take_out_stops(second.took, second.times);
  CHECK(second.lost(1) == doctest::Approx(5 * 300'000));
  Stopping all = as_it_was;
  for (std::size_t step = 1; step < all.times.steps; step += 2) {
    all.times.workers[1].slots[step][0] += 300'000;
    all.took[step] = kStep + 300'000;
  }
  take_out_stops(all.took, all.times);
  CHECK(all.lost(1) == 0);
  CHECK(all.times.workers[1].slots[1][0] == kSlot + 300'000);
}

TEST_CASE("a stop costs no more than a quarter beyond what it took, whatever else held the step up") {
  Stopping job(300'000, 2'000'000);
  take_out_stops(job.took, job.times);
  CHECK(job.lost(1) == doctest::Approx(375'000));
}

TEST_CASE("slots that scatter, and stops that all have, stay where they are") {
  Stopping little(60'000, 60'000);  // less than 2 % of the time
  take_out_stops(little.took, little.times);
  CHECK(little.times.workers[1].slots[4][2] == kSlot + 60'000);
  CHECK(little.lost(1) == 0);
  Stopping all(300'000, 290'000);
  for (auto& worker : all.times.workers) {
    worker.slots[4][2] = kSlot + 300'000;
  }
  take_out_stops(all.took, all.times);
  CHECK(all.times.workers[1].slots[4][2] == kSlot + 300'000);
  CHECK(all.lost(1) == 0);
}

}  // namespace
}  // namespace ballast::insight
