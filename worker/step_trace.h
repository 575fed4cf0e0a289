// What a worker measures of its messages, for whoever asks (docs/tracing.md). What it computes, the compute thread and
// the readers of examples measure, into the same ring.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "common/net/link_trace.h"
#include "common/trace/trace_ring.h"
#include "protocol/worker/worker.h"

namespace ballast {

// One thread, the loop's. What is not settled yet is as much as the core has: gradients and weights.
class StepTrace {
 public:
  explicit StepTrace(DeclaredLine line = {})
      : ring_(std::make_shared<TraceRing>(TraceRing::kOfProcess)), links_(line) {}

  // Once, before anything else: how many updates a step has.
  void steps_have(std::uint32_t updates) { updates_ = updates; }
  [[nodiscard]] Step step_of(Version version) const { return version / updates_; }

  // For other threads of the worker.
  [[nodiscard]] const std::shared_ptr<TraceRing>& ring() const { return ring_; }

  // ---- a contribution

  void ready(const worker::GradientReady& gradient, Micros now) { ready_[gradient.payload] = now; }
  void sent(std::uint32_t lane, const Push& push, PayloadId gradient, std::uint64_t bytes, Micros now);
  // The transport has let go of it then; 0: it was never sent. Of what was sent twice, the first is let go of first.
  void taken(PayloadId gradient, Micros at);

  // ---- weights

  void asked(const Pull& pull, Micros now);
  // `sent`: by the lane's clock.
  void arrived(std::uint32_t lane, const Weights& weights, PayloadId payload, Micros sent, Micros now);
  void stored(PayloadId weights, Micros now);

  // ---- links

  // Whether links are to be looked at now.
  [[nodiscard]] bool wants_links(Micros now) { return links_.is_due(now); }
  void line(Micros now) {
    if (const auto record = links_.line(step_, now)) {
      ring_->add(*record);
    }
  }
  void link(std::uint32_t lane, const LinkInfo& info, Micros now) {
    if (const auto record = links_.record(step_, lane, info, now)) {
      ring_->add(*record);
    }
  }

  // The core needs the payload no more.
  void released(PayloadId payload);

  [[nodiscard]] TracePart part(const TraceAsked& asked) const { return part_of(*ring_, asked); }

 private:
  std::shared_ptr<TraceRing> ring_;
  std::uint32_t updates_ = 1;
  Step step_ = 0;  // of the newest contribution
  LinkTrace links_;
  std::unordered_map<PayloadId, Micros> ready_;
  std::multimap<PayloadId, TraceRecord> sent_;
  std::unordered_map<ChunkId, Micros> asked_;  // at last
  std::unordered_map<PayloadId, TraceRecord> arrived_;
};

}  // namespace ballast
