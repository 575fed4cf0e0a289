#include "worker/worker_metrics.h"

#include <exception>

#include "common/log/log.h"

namespace ballast {

void WorkerMetrics::watch_gpu(const std::string& bus_id) {
  if (metrics_ == nullptr) {
    return;
  }
  try {
    gpu_ = std::make_unique<GpuWatch>(metrics_, bus_id);
  } catch (const std::exception& error) {
    log_warn("there will be no metrics of the GPU: {}", error.what());
  }
}

void WorkerMetrics::update(const Worker& worker, std::uint64_t corrupt) {
  const auto raise = [](Counter& counter, std::uint64_t total) { counter.raise_to(static_cast<double>(total)); };
  const auto& counters = worker.counters();
  raise(*series_.steps, counters.steps);
  raise(*series_.slots, counters.slots);
  raise(*series_.slots_given_up, counters.given_up);
  raise(*series_.retries, worker.retries());
  raise(*series_.duplicates, counters.duplicates);
  raise(*series_.gone, counters.gone);
  raise(*series_.corrupt_examples, corrupt);
  series_.in_flight_bytes->set(static_cast<double>(worker.in_flight_bytes()));
  if (worker.finished_steps() != steps_seen_) {
    steps_seen_ = worker.finished_steps();
    series_.phases.observe(worker.phases());
  }
}

}  // namespace ballast
