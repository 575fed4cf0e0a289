#include "insight/worker_stops.h"

#include <doctest/doctest.h>

#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

WorkerTimes stopped_for(double slot, double between) {
  auto worker = job_of(2, 4).workers[0];
  worker.stops.assign(worker.slots.size(), 0);
  worker.slots[4][1] += slot;
  worker.stops[6] = between;
  return worker;
}

TEST_CASE(
    "worker stops: one after which the lead has given the worker up holds the job up for as long as its steps took "
    "longer") {
  const std::vector<double> took{200'000, 200'000, 200'000, 200'000, 1'400'000,
                                 300'000, 200'000, 200'000, 200'000, 200'000};
  auto worker = stopped_for(2'000'000, 0);
  shorten_long_stops(took, worker);
  CHECK(worker.slots[4][1] == doctest::Approx(kSlot + 1'300'000));
  CHECK(worker.slots[4][0] == kSlot);
  worker = stopped_for(0, 1'600'000);
  shorten_long_stops(took, worker);
  CHECK(worker.stops[6] == 0);  // nobody was held up then
}

TEST_CASE("worker stops: a shorter one is as long as it was, and none is made longer") {
  const std::vector<double> took(10, 200'000);
  auto worker = stopped_for(1'400'000, 1'000'000);
  shorten_long_stops(took, worker);
  CHECK(worker.slots[4][1] == kSlot + 1'400'000);
  CHECK(worker.stops[6] == 1'000'000);
  worker = stopped_for(2'000'000, 0);
  shorten_long_stops({200'000, 200'000, 200'000, 200'000, 9'000'000, 200'000, 200'000, 200'000, 200'000, 200'000},
                     worker);
  CHECK(worker.slots[4][1] == kSlot + 2'000'000);
}

}  // namespace
}  // namespace ballast::insight
