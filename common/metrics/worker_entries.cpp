#include "common/metrics/metric_entries.h"

namespace ballast {

const std::vector<MetricEntry>& worker_entries() {
  static const std::vector<MetricEntry> entries = {
      {"ballast_worker_phase_seconds",
       kHistogram,
       "seconds",
       {"phase"},
       "Where each step goes: data_wait, pull, forward, backward, push."},
      {"ballast_worker_steps_total", kCounter, "steps", {}, "Steps this worker computed slots of."},
      {"ballast_worker_slots_total", kCounter, "slots", {}, "Slots computed."},
      {"ballast_worker_duplicates_total",
       kCounter,
       "messages",
       {},
       "Contributions whose work somebody else had covered before."},
      {"ballast_worker_slots_given_up_total",
       kCounter,
       "slots",
       {},
       "Slots computed in vain: no lane called them, and the computation needed their buffers (sync and local)."},
      {"ballast_worker_gone_total", kCounter, "messages", {}, "Pulls of a version that was no longer held."},
      {"ballast_worker_retries_total", kCounter, "messages", {}, "Pulls and pushes that were sent again."},
      {"ballast_worker_bytes_total",
       kCounter,
       "bytes",
       {"direction"},
       "Payload bytes by direction: in (weights) or out (gradients)."},
      {"ballast_worker_corrupt_examples_total",
       kCounter,
       "examples",
       {},
       "Examples of this worker's data that could not be read and were left out or replaced (data.corrupt: skip), each "
       "once; of images those that it has come to so far."},
      {"ballast_worker_in_flight_bytes", kGauge, "bytes", {}, "Gradient bytes sent and without a receipt."},
      {"ballast_worker_lead_silence_seconds",
       kGauge,
       "seconds",
       {},
       "Time since this worker heard of its lead, or since it began to look for one."},
      {"ballast_worker_gpu_utilization",
       kGauge,
       "ratio",
       {},
       "Share of the last moments in which the worker's GPU ran a kernel, of any process; 0 to 1. All of a worker's "
       "GPU "
       "metrics are there only where it computes on one and its driver tells."},
      {"ballast_worker_gpu_memory_used_bytes", kGauge, "bytes", {}, "Memory in use on the GPU, by all processes."},
      {"ballast_worker_gpu_memory_bytes", kGauge, "bytes", {}, "Memory of the GPU."},
      {"ballast_worker_gpu_clock_hertz", kGauge, "hertz", {}, "Clock of the GPU's processors."},
      {"ballast_worker_gpu_throttled",
       kGauge,
       "1",
       {"reason"},
       "1 while the GPU runs slower than it could, by reason: power (a limit on it), heat, hardware (a slowdown that "
       "the "
       "board asks for)."},
      {"ballast_worker_examples_total",
       kCounter,
       "examples",
       {},
       "Examples of the slots that this worker computed, whether or not they counted."},
      {"ballast_worker_exposed_seconds_total",
       kCounter,
       "seconds",
       {},
       "Exposed communication: time in which the worker computed nothing while contributions of its own had no receipt "
       "or weights that it had asked for were not there, or could not go on for want of a gradient buffer. Waits for "
       "who is slower are part of it; what was sent or read while it computed is not."},
      {"ballast_worker_non_finite_slots_total",
       kCounter,
       "slots",
       {},
       "Slots whose gradient had an infinity or a NaN; of several slots in one sum of a chunk the first counts."},
      {"ballast_worker_gradient_norm",
       kGauge,
       "1",
       {"group"},
       "Norm of a slot's gradient, the mean over its examples (with training.mode: local, of the change that its local "
       "steps made), by group of layers: a layer each, or 16 groups of layers that follow each other. Of one slot now "
       "and then, so that it costs a five-hundredth of computing at most."},
  };
  return entries;
}

}  // namespace ballast
