#include "worker/worker_metrics.h"

#include <exception>

#include "common/log/log.h"

namespace ballast {

WorkerMetrics::WorkerMetrics(Metrics* metrics)
    : metrics_(metrics),
      series_(metrics),
      turns_(metrics, "worker"),
      process_(metrics),
      readings_(metrics == nullptr ? nullptr : std::make_unique<EachSecond>([this] { process_.read(); })) {}

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

// Each chunk of a slot may tell of it.
void WorkerMetrics::ready(const worker::GradientReady& gradient) {
  if (gradient.fault == kNoSlot) {
    return;
  }
  if (gradient.step != non_finite_step_) {
    non_finite_.clear();
    non_finite_step_ = gradient.step;
  }
  if (non_finite_.insert(gradient.fault).second) {
    series_.non_finite_slots->add();
  }
}

void WorkerMetrics::update(const Worker& worker, const Computation& computation) {
  const auto raise = [](Counter& counter, std::uint64_t total) { counter.raise_to(static_cast<double>(total)); };
  const auto& counters = worker.counters();
  raise(*series_.steps, counters.steps);
  raise(*series_.slots, counters.slots);
  raise(*series_.slots_given_up, counters.given_up);
  raise(*series_.retries, worker.retries());
  raise(*series_.duplicates, counters.duplicates);
  raise(*series_.gone, counters.gone);
  raise(*series_.corrupt_examples, computation.corrupt_examples());
  raise(*series_.examples, computation.examples());
  series_.in_flight_bytes->set(static_cast<double>(worker.in_flight_bytes()));
  if (worker.finished_steps() != steps_seen_) {
    steps_seen_ = worker.finished_steps();
    series_.phases.observe(worker.phases());
  }
  if (const auto* norms = computation.norms()) {
    update_norms(*norms);
  }
}

void WorkerMetrics::update_norms(const GradientNorms& norms) {
  for (std::size_t group = 0; group < norms.groups().size(); ++group) {
    if (const auto norm = norms.norm(group)) {
      if (norms_.size() == group) {
        norms_.push_back(worker_gradient_norm(metrics_, norms.groups()[group]));
      }
      norms_[group]->set(*norm);
    }
  }
}

}  // namespace ballast
