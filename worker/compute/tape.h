// A network prepared for one batch size and length: its operations in order, run forward and in reverse any number of
// times (reverse-mode differentiation over a Wengert list: R. E. Wengert, "A Simple Automatic Derivative Evaluation
// Program", 1964).
//
// A value that several operations use is forked: each has a gradient of its own, and the fork sums them in the order in
// which the operations stand in the network. A parameter that several layers share is written by the last of them and
// added to by the others, in reverse order. So each gradient is one fixed sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/arena/arena.h"
#include "common/network/graph.h"
#include "worker/compute/backend.h"

namespace ballast {

// How many examples, and how many steps their sequences are padded to (1 for what is no sequence).
struct TapeSize {
  std::uint32_t examples = 0;
  std::uint32_t steps = 1;
  bool operator==(const TapeSize&) const = default;
};

// Not thread-safe. The backend must outlive it. Running allocates nothing of its own (oneDNN keeps a short list of
// arguments for each call).
class Tape {
 public:
  using GradientReady = std::function<void(std::size_t parameter)>;

  // `arena` is the layout of the graph's parameters. Throws std::invalid_argument naming the layer that does not fit.
  Tape(Backend& backend, const Graph& graph, const Arena& arena, const TapeSize& size);

  // `pass` must stay alive until its backward, or the next forward; `weights` is a whole arena.
  void forward(const Pass& pass, const WeightArena& weights);
  // Of the last forward; after its backward, if there is one (LossOperation::sums).
  [[nodiscard]] LossSums sums() const { return loss_->sums(); }
  // Of the last forward (LossOperation::predictions).
  [[nodiscard]] std::span<const double> predictions() const { return loss_->predictions(); }
  // After a forward in training with the same weights, still alive: overwrites the gradient of every parameter with
  // scale * d(loss_sum)/d(parameter), that of state as Model::train says, and calls ready as soon as it is final: last
  // layers first, in a layer the last parameter first.
  void backward(float scale, std::span<float> gradients, const GradientReady& ready);

 private:
  struct Step {
    std::unique_ptr<Operation> operation;
    std::vector<std::unique_ptr<Tensor>> outputs;
    bool wants_input_gradient = false;
    std::vector<std::size_t> parameters;  // whose gradients are final with this step, in the order of their readiness
  };
  class Recorder;

  Backend& backend_;
  std::vector<Extent> extents_;
  std::size_t arena_elements_;
  std::unique_ptr<Tensor> input_;
  bool reads_features_;
  std::vector<Step> steps_;
  std::unique_ptr<LossOperation> loss_;
  std::vector<std::size_t> on_their_way_;  // parameters whose gradients the device has not delivered yet
};

}  // namespace ballast
