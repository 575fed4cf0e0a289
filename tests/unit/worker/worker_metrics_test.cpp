#include "worker/worker_metrics.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

worker::GradientReady ready_of(Step step, ChunkId chunk, Slot fault) {
  worker::GradientReady ready;
  ready.step = step;
  ready.chunk = chunk;
  ready.fault = fault;
  return ready;
}

TEST_CASE("a slot whose gradient is not finite counts once, however many of its chunks tell") {
  Metrics metrics;
  WorkerMetrics worker(&metrics);
  const auto counted = metrics.counter("ballast_worker_non_finite_slots_total");
  worker.ready(ready_of(4, 0, kNoSlot));
  CHECK(counted->value() == 0);
  worker.ready(ready_of(4, 0, 2));
  worker.ready(ready_of(4, 1, 2));
  CHECK(counted->value() == 1);
  worker.ready(ready_of(4, 2, 3));
  CHECK(counted->value() == 2);
  worker.ready(ready_of(5, 0, 2));  // the same slot of another step
  CHECK(counted->value() == 3);
}

TEST_CASE("exposed communication is told in seconds, and a worker without readers has nobody to tell") {
  Metrics metrics;
  WorkerMetrics worker(&metrics);
  CHECK(worker.is_read());
  worker.exposed(2'500'000);
  CHECK(metrics.counter("ballast_worker_exposed_seconds_total")->value() == doctest::Approx(2.5));
  WorkerMetrics unread(nullptr);
  CHECK_FALSE(unread.is_read());
  unread.exposed(1);
}

}  // namespace
}  // namespace ballast
