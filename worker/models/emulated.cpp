#include "worker/models/emulated.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "worker/models/empty_slot.h"
#include "worker/models/hashed_gradient.h"
#include "worker/models/timed_work.h"

namespace ballast {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr double kForwardShare = 1.0 / 3.0;  // a backward pass costs about twice the forward pass
constexpr double kMostMilliseconds = 3'600'000;

class Emulated : public Model {
 public:
  Emulated(const Arena& arena, bool fixed, double compute_ms) : arena_(arena), fixed_(fixed), compute_ms_(compute_ms) {
    for (const Extent& extent : arena.extents) {
      elements_ += extent.elements;
    }
  }

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override {
    times_ = {};
    if (batch.count == 0) {
      write_empty_slot(arena_, gradients, ready);
      return {};
    }
    TimedWork work{Milliseconds(compute_ms_)};
    const BatchResult result = evaluate(batch, weights);
    work.wait(kForwardShare);
    const auto middle = TimedWork::Clock::now();
    write_gradients(task, weights.values, gradients, ready, work);
    times_ = compute_times(work.begin(), middle, TimedWork::Clock::now());
    return result;
  }

  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override {
    double loss = 0;
    for (const Extent& extent : arena_.extents) {
      const auto weight = static_cast<double>(weights.values[extent.offset]);
      loss += weight * weight;
    }
    return {loss * batch.count, 0, batch.count};
  }

  void predict(const Batch& /*batch*/, const WeightArena& /*weights*/, std::span<float> /*probabilities*/) override {
    throw std::invalid_argument("the emulated model knows no classes: it predicts nothing");
  }

  [[nodiscard]] ComputeTimes last_times() const override { return times_; }

 private:
  [[nodiscard]] std::uint64_t key_of(const SlotTask& task) const {
    if (fixed_) {
      return mix_key(0, task.slot);
    }
    const auto key = mix_key(mix_key(mix_key(0, task.seed), task.step), task.slot);
    return task.local_step == 0 ? key : mix_key(key, task.local_step);
  }

  void write_gradients(const SlotTask& task, std::span<const float> weights, std::span<float> gradients,
                       const GradientReady& ready, TimedWork& work) const {
    const std::uint64_t slot_key = key_of(task);
    std::uint64_t done = 0;
    for (std::size_t parameter = arena_.parameters.size(); parameter-- > 0;) {
      const Extent& extent = arena_.extents[parameter];
      const auto before = weights.subspan(extent.offset, extent.elements);
      const auto gradient = gradients.subspan(extent.offset, extent.elements);
      const auto key = mix_key(slot_key, parameter);
      if (arena_.parameters[parameter].group == Group::state) {
        write_state(key, before, gradient);
      } else {
        write_gradient(key, before, gradient);
      }
      done += extent.elements;
      work.wait(kForwardShare + (1.0 - kForwardShare) * static_cast<double>(done) / static_cast<double>(elements_));
      ready(parameter);
    }
  }

  // Buffers change by whole chunks: another slot's gradient is added to every element or written over it. So few
  // elements tell whether a buffer still holds a fixed gradient, and nothing need be remembered about buffers, which
  // may be freed and come back at the same address.
  void write_gradient(std::uint64_t key, std::span<const float> weights, std::span<float> gradient) const {
    if (!fixed_) {
      write_hashed(key, weights, gradient);
    } else if (!holds_fixed(key, gradient)) {
      write_fixed(key, gradient);
    }
  }

  // What a slot makes of state is no gradient: it differs from slot to slot and from what it was by a little.
  void write_state(std::uint64_t key, std::span<const float> before, std::span<float> after) const {
    fixed_ ? write_fixed(key, after) : write_hashed(key, before, after);
    std::transform(before.begin(), before.end(), after.begin(), after.begin(), std::plus<>());
  }

  const Arena& arena_;
  bool fixed_;
  double compute_ms_;
  std::uint64_t elements_ = 0;  // of all parameters
  ComputeTimes times_;
};

}  // namespace

std::unique_ptr<Model> make_emulated(const ModelSpec& spec, const Arena& arena) {
  if (spec.gradient != "hashed" && spec.gradient != "fixed") {
    throw std::invalid_argument("model.gradient: '" + spec.gradient + "' is unknown; choose hashed or fixed");
  }
  if (!(spec.compute_ms >= 0) || spec.compute_ms > kMostMilliseconds) {
    throw std::invalid_argument("model.compute_ms: " + std::to_string(spec.compute_ms) +
                                " is not a time between 0 and 3600000 milliseconds");
  }
  return std::make_unique<Emulated>(arena, spec.gradient == "fixed", spec.compute_ms);
}

}  // namespace ballast
