// What a worker measures of its messages, for whoever asks (docs/tracing.md). What it computes, the compute thread and
// the readers of examples measure, into the same ring.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "common/trace/trace_ring.h"
#include "protocol/worker/worker.h"

namespace ballast {

// One thread, the loop's. What is not settled yet is as much as the core has: gradients and weights.
class StepTrace {
 public:
  StepTrace() : ring_(std::make_shared<TraceRing>(TraceRing::kOfProcess)) {}

  // For other threads of the worker.
  [[nodiscard]] const std::shared_ptr<TraceRing>& ring() const { return ring_; }

  // ---- a contribution

  void ready(const worker::GradientReady& gradient, Micros now) { ready_[gradient.payload] = now; }
  void sent(std::uint32_t lane, const Push& push, PayloadId gradient, Micros now);
  // The kernel has all of it.
  void taken(PayloadId gradient, Micros now);

  // ---- weights

  void asked(const Pull& pull, Micros now);
  // `sent`: by the lane's clock.
  void arrived(std::uint32_t lane, const Weights& weights, PayloadId payload, Micros sent, Micros now);
  void stored(PayloadId weights, Micros now);

  // The core needs the payload no more.
  void released(PayloadId payload);

  [[nodiscard]] TracePart part(const TraceAsked& asked) const { return part_of(*ring_, asked); }

 private:
  std::shared_ptr<TraceRing> ring_;
  std::unordered_map<PayloadId, Micros> ready_;
  std::unordered_map<PayloadId, TraceRecord> sent_;
  std::unordered_map<ChunkId, Micros> asked_;  // at last
  std::unordered_map<PayloadId, TraceRecord> arrived_;
};

}  // namespace ballast
