// What a worker tells its operators: counts derived from the core, and bytes.
#pragma once

#include <cstdint>

#include "common/metrics/series.h"
#include "common/protocol/worker.h"

namespace ballast {

// One thread. `metrics` may be null: then nobody reads.
class WorkerMetrics {
 public:
  explicit WorkerMetrics(Metrics* metrics) : series_(metrics), turns_(metrics, "worker") {}
  void turn(Micros took) { turns_.observe(took); }
  void received(std::uint64_t payload_bytes) { series_.bytes_in->add(static_cast<double>(payload_bytes)); }
  void sent(std::uint64_t payload_bytes) { series_.bytes_out->add(static_cast<double>(payload_bytes)); }
  // After every step, and at every tick.
  void update(const Worker& worker);

 private:
  std::uint64_t steps_seen_ = 0;
  WorkerSeries series_;
  TurnSeries turns_;
};

}  // namespace ballast
