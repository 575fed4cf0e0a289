// What a worker tells its operators: counts derived from the core, and bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/metrics/each_second.h"
#include "common/metrics/series.h"
#include "protocol/worker/worker.h"
#include "worker/computation.h"
#include "worker/gpu_watch.h"

namespace ballast {

// One thread. `metrics` may be null: then nobody reads.
class WorkerMetrics {
 public:
  explicit WorkerMetrics(Metrics* metrics);
  [[nodiscard]] bool is_read() const { return metrics_ != nullptr; }
  // Which worker of which job it is, once that is known.
  void describe(const std::string& worker, const std::string& job) {
    describe_process(metrics_, "worker", worker, job);
  }
  // From any thread, once: tells from now on what this GPU is doing. Logs why it cannot.
  void watch_gpu(const std::string& bus_id);
  void turn(Micros took) { turns_.observe(took); }
  void received(std::uint64_t payload_bytes) { series_.bytes_in->add(static_cast<double>(payload_bytes)); }
  void sent(std::uint64_t payload_bytes) { series_.bytes_out->add(static_cast<double>(payload_bytes)); }
  void lead_silence(Micros silence) { series_.lead_silence->set(static_cast<double>(silence) * 1e-6); }
  void ready(const worker::GradientReady& gradient);
  void exposed(Micros total) { series_.exposed_seconds->raise_to(static_cast<double>(total) * 1e-6); }
  // After every step, and at every tick.
  void update(const Worker& worker, const Computation& computation);

 private:
  void update_norms(const GradientNorms& norms);

  Metrics* metrics_;
  std::uint64_t steps_seen_ = 0;
  WorkerSeries series_;
  TurnSeries turns_;
  ProcessSeries process_;
  std::vector<GaugeHandle> norms_;  // by group; none before the first
  std::set<Slot> non_finite_;       // of the step
  Step non_finite_step_ = 0;
  std::unique_ptr<EachSecond> readings_;  // null: nobody reads
  std::unique_ptr<GpuWatch> gpu_;         // null: no GPU, or nobody reads
};

}  // namespace ballast
