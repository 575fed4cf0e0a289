#include "worker/step_trace.h"

namespace ballast {

void StepTrace::sent(std::uint32_t lane, const Push& push, PayloadId gradient, std::uint64_t bytes, Micros now) {
  step_ = push.step;
  const auto ready = ready_.find(gradient);
  sent_.emplace(gradient, TraceRecord{.step = push.step,
                                      .peer = lane,
                                      .first = ready == ready_.end() ? 0 : ready->second,
                                      .second = now,
                                      .fourth = bytes,
                                      .chunk = push.chunk,
                                      .slots = push.node,
                                      .kind = TraceKind::push});
  if (push.want_next) {
    asked_[push.chunk] = now;
  }
}

void StepTrace::taken(PayloadId gradient, Micros at) {
  const auto found = sent_.lower_bound(gradient);
  if (found == sent_.end() || found->first != gradient) {
    return;
  }
  found->second.third = at;
  if (at != 0) {
    ring_->add(found->second);
  }
  sent_.erase(found);
}

void StepTrace::asked(const Pull& pull, Micros now) {
  for (const auto chunk : pull.chunks) {
    asked_[chunk] = now;
  }
}

void StepTrace::arrived(std::uint32_t lane, const Weights& weights, PayloadId payload, Micros sent, Micros now) {
  const auto asked = asked_.find(weights.chunk);
  arrived_[payload] = {.step = step_of(weights.version),
                       .peer = lane,
                       .first = asked == asked_.end() ? 0 : asked->second,
                       .second = sent,
                       .third = now,
                       .chunk = weights.chunk,
                       .kind = TraceKind::pull};
}

void StepTrace::stored(PayloadId weights, Micros now) {
  const auto found = arrived_.find(weights);
  if (found == arrived_.end()) {
    return;
  }
  found->second.fourth = now;
  ring_->add(found->second);
  arrived_.erase(found);
}

// A gradient may be released by its receipt before the transport says that it is gone.
void StepTrace::released(PayloadId payload) {
  ready_.erase(payload);
  arrived_.erase(payload);
}

}  // namespace ballast
