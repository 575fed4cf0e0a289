// A model as the worker's loop sees it: one slot in, gradients out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "common/arena/arena.h"
#include "common/job/model_parameters.h"
#include "common/job/spec.h"
#include "worker/compute/backend.h"
#include "worker/compute/batch.h"

namespace ballast {

struct SlotTask {
  std::uint64_t step = 0;
  std::uint32_t slot = 0;
  // Gradients are scaled by 1 / step_examples: of the whole step, or of the slot if it makes an update of its own.
  std::uint32_t step_examples = 0;
  std::uint64_t seed = 0;
  std::uint32_t local_step = 0;  // of the slot, with training.mode: local
};

struct BatchResult {
  double loss_sum = 0;  // over the examples, in natural units (not scaled)
  std::uint32_t correct = 0;
  std::uint32_t examples = 0;
  // Of evaluate: computes what is predicted (LossOperation::predictions), which stands until the model is used again.
  // None of a model that predicts nothing.
  std::function<std::span<const double>()> predictions = {};
};

// Microseconds of the phases of one slot, for the phase times that travel with contributions. Where a device runs
// behind its host, forward is queueing alone and backward has the computing of both.
struct ComputeTimes {
  std::uint64_t forward_us = 0;
  std::uint64_t backward_us = 0;
};

// Of a slot whose forward pass was over, and the backward one began, in the middle.
inline ComputeTimes compute_times(std::chrono::steady_clock::time_point begin,
                                  std::chrono::steady_clock::time_point middle,
                                  std::chrono::steady_clock::time_point end) {
  const auto microseconds = [](auto span) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(span).count());
  };
  return {microseconds(middle - begin), microseconds(end - middle)};
}

// Not thread-safe: one thread uses one Model. The bytes it writes depend on its arguments alone.
class Model {
 public:
  using GradientReady = std::function<void(std::size_t parameter)>;

  virtual ~Model() = default;

  // Forward and backward of one slot. `weights` and `gradients` are whole arenas (Arena::elements floats); every
  // parameter's gradient is overwritten with d(sum of losses / step_examples) / d(parameter), that of state with the
  // batch's statistic where it has a momentum, otherwise with what the batch makes of its value, and `ready` is called
  // once for each parameter as soon as its gradient is final, from this thread, last layers first. Bytes outside
  // parameter extents (padding, statistics) are not touched. An empty batch writes +0.0 everywhere.
  virtual BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights,
                            std::span<float> gradients, const GradientReady& ready) = 0;

  // Forward only: the loss and the number of right answers.
  virtual BatchResult evaluate(const Batch& batch, const WeightArena& weights) = 0;

  // Forward only: writes what is predicted of each row (LossOperation::predictions). Labels are not read. Throws
  // std::invalid_argument for a model that predicts nothing.
  virtual void predict(const Batch& batch, const WeightArena& weights, std::span<float> predictions) = 0;

  // Of the last call of train.
  [[nodiscard]] virtual ComputeTimes last_times() const = 0;

  // Says that this part of host memory will often be handed in as weights or gradients; it outlives the model. Changes
  // no result.
  virtual void pin(std::span<float> /*arena*/) {}
};

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

// The processor, which every machine has.
inline MakeBackend on_cpu(std::uint32_t threads) {
  return [threads] { return make_cpu_backend(threads); };
}

// `arena` is the layout of the parameters that declare_parameters(spec, shape) gave; it must outlive the model.
// `make_backend` is called only for a model that computes. Throws std::invalid_argument with a sentence for a user when
// the model does not fit the examples, and what make_backend throws.
std::unique_ptr<Model> make_model(const ModelSpec& spec, const ExampleShape& shape, const Arena& arena,
                                  const MakeBackend& make_backend);

}  // namespace ballast
