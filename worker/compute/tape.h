// A network as a list of differentiable operations: recorded once for a batch size, run forward and in reverse any
// number of times (reverse-mode differentiation over a Wengert list: R. E. Wengert, "A Simple Automatic Derivative
// Evaluation Program", 1964).
//
// Recording looks parameters up by name, checks shapes and prepares every operation; running allocates nothing of its
// own (oneDNN keeps a short list of arguments for each call).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "worker/compute/backend.h"

namespace ballast {

// Not thread-safe. Backend and arena must outlive it.
class Tape {
 public:
  // A recorded activation; owned by the tape.
  using Value = Tensor*;
  using GradientReady = std::function<void(std::size_t parameter)>;

  Tape(Backend& backend, const Arena& arena, const Shape& input);

  // Recording. Each value is used by one operation, and the last of them is the loss. A layer's parameters are those
  // called LAYER.weight and LAYER.bias in the arena; each is used once. Throws std::invalid_argument naming the layer
  // if a parameter is missing, has another shape than the layer needs, or if the layer does not fit its input.
  [[nodiscard]] Value input() { return input_.get(); }
  Value conv2d(Value x, const std::string& layer, const Conv2d& conv);
  Value linear(Value x, const std::string& layer, std::uint32_t units);
  Value relu(Value x);
  Value max_pool2d(Value x, const MaxPool2d& pool);
  void softmax_cross_entropy(Value logits);
  // Throws std::logic_error unless the loss is recorded and every parameter of the arena is used.
  void finish() const;

  // Running. `features` holds the input in NCHW, `weights` and `gradients` are whole arenas.
  void forward(std::span<const float> features, std::span<const std::int32_t> labels, const WeightArena& weights);
  // Of the last forward; after its backward, if there is one (LossOperation::sums).
  [[nodiscard]] LossSums sums() const { return loss_->sums(); }
  // Of the last forward, for each example the probability of each class.
  [[nodiscard]] std::span<const double> probabilities() const { return loss_->probabilities(); }
  // After a forward with the same weights, still alive: overwrites the gradient of every parameter with
  // scale * d(loss_sum)/d(parameter) and calls ready as soon as it is final: last layers first, in a layer bias first.
  void backward(float scale, std::span<float> gradients, const GradientReady& ready);

 private:
  struct Step {
    Prepared prepared;
    bool input_wants_gradient = false;
    std::vector<std::size_t> parameters;  // in the order in which they become ready
  };

  Value append(Value x, Prepared prepared, std::vector<std::size_t> parameters = {});
  void use(Value x);
  std::size_t take_parameter(const std::string& name, const std::vector<std::uint32_t>& shape);

  Backend& backend_;
  const Arena& arena_;
  std::unique_ptr<Tensor> input_;
  std::vector<Step> steps_;
  std::unique_ptr<LossOperation> loss_;
  std::vector<const Tensor*> used_values_;
  std::vector<bool> used_parameters_;
  std::vector<std::size_t> on_their_way_;  // parameters whose gradients the device has not delivered yet
};

}  // namespace ballast
