// What a device must be able to do for the models: tensors on it, and one prepared operation for each layer of a
// network (common/network/layers.h).
//
// A network is prepared once for each batch size and length and then run any number of times: preparing chooses
// layouts, kernels and buffers, so that running neither allocates nor decides. Activations live on the device in a
// layout of the backend's choice. Parameters are views into arenas in host memory, bound before each run.
//
// A device may run behind its host: operations return when their work is queued, in order, and only what hands values
// to the host waits for them (a loss's sums and predictions, await_delivery, read, read_gradient). docs/backends.md
// has the whole picture.
//
// The bytes that operations produce depend on their inputs, the backend and its number of threads alone: not on what
// ran before, nor on addresses.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/network/layers.h"
#include "common/network/shape.h"
#include "worker/compute/pass.h"

namespace ballast {

// An activation and, unless it is an input without one, the gradient of the loss with respect to it. Owned by whoever
// prepared it; used only with the backend that made it, and outlived by it.
class Tensor {
 public:
  Tensor(const Shape& shape, bool with_gradient) : shape_(shape), with_gradient_(with_gradient) {}
  virtual ~Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool with_gradient() const { return with_gradient_; }

 private:
  Shape shape_;
  bool with_gradient_;
};

// One layer, prepared for one batch size and length: y = f(inputs, parameters). Refers to its inputs, which must
// outlive it.
class Operation {
 public:
  virtual ~Operation() = default;

  // Reads the inputs, the bound weights and the pass, writes y.
  virtual void forward() = 0;
  // Reads what forward left and y's gradient; writes the gradients of the parameters in the bound arena (state: see
  // Model::train). Only after a forward in training.
  virtual void backward_parameters() {}
  // Reads the same; overwrites the gradient of each input that has one. May spoil y's gradient: call it last.
  virtual void backward_input() = 0;
};

struct LossSums {
  double loss_sum = 0;        // over the examples
  std::uint32_t correct = 0;  // examples whose label has the largest logit, the lowest index among equals; of
                              // Labels::steps by their last labelled step; 0 for other labels
};

// The end of a network: a prediction to a loss.
class LossOperation {
 public:
  virtual ~LossOperation() = default;

  // Reads the pass's labels; throws std::invalid_argument for those that the data cannot have.
  virtual void forward() = 0;
  // Of the last forward. Ask when the backward pass is queued: a device that is ahead of its host does not idle.
  [[nodiscard]] virtual LossSums sums() const = 0;
  // Of the last forward, rows x outputs: probabilities of the classes, which sum to 1; those of each of several; or the
  // predicted numbers. Valid until the next forward.
  [[nodiscard]] virtual std::span<const double> predictions() const = 0;
  // Overwrites the prediction's gradient with scale * d(loss_sum)/d(prediction) for the labels of the last forward.
  virtual void backward(float scale) = 0;
};

// An operation and the activation it writes.
struct Prepared {
  std::unique_ptr<Operation> operation;
  std::unique_ptr<Tensor> output;
};

// A value that several operations use: the same value for each, with a gradient of its own. The operation's
// backward_input sums these, in their order.
struct Forked {
  std::unique_ptr<Operation> operation;
  std::vector<std::unique_ptr<Tensor>> outputs;
};

// Where a parameter lies in the arenas.
struct ParameterPlace {
  Extent extent;
  // Another operation, whose backward_parameters has run before, has written its gradient: this one adds to it.
  bool adds = false;
};

// A layer to be prepared.
struct LayerTask {
  const Layer& layer;
  std::span<Tensor* const> inputs;
  std::span<const ParameterPlace> parameters;  // in the order of the layer's description
  // The output may lie in the memory of the first input, value and gradient: nobody else reads them any more.
  bool in_place = false;
  std::uint32_t number = 0;  // of the layer in its network: part of what random draws depend on
};

// Of products in convolutions and linear layers; what is kept (weights, gradients, activations) and sums of products
// are float32 always. The cpu has float32 alone.
enum class Precision : std::uint8_t {
  float32,
  tf32,      // factors rounded to 10 bits of mantissa, by the tensor cores of GPUs
  bfloat16,  // factors rounded to 7 bits of mantissa, and a convolution's results when they are summed
};
inline constexpr std::array kPrecisions = {Precision::float32, Precision::tf32, Precision::bfloat16};

// As job files write it.
constexpr const char* name_of(Precision precision) {
  constexpr std::array names = {"float32", "tf32", "bfloat16"};
  return names[static_cast<std::size_t>(precision)];
}

// A whole arena of weights in host memory. Whoever writes it may name its contents, anew with every change: then the
// same arena with the same name holds the same values, and a device that has copied them need not copy them again.
struct WeightArena {
  static constexpr std::uint64_t kUnnamed = 0;

  WeightArena() = default;
  // Of whatever a span of floats can be made of.
  template <typename Floats>
  requires std::convertible_to<const Floats&, std::span<const float>> WeightArena(const Floats& arena,
                                                                                  std::uint64_t name = kUnnamed)
      : values(arena), contents(name) {}

  std::span<const float> values;
  std::uint64_t contents = kUnnamed;
};

// Thrown where a network is prepared: the device has no room for it, at this batch size.
class DeviceMemoryExhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One device with one thread (or team of threads) of its own speed. Not thread-safe: one thread uses one backend and
// what it prepared. Preparing throws std::invalid_argument for shapes that do not fit, DeviceMemoryExhausted where the
// device has no room. Anything may throw std::runtime_error when the device fails, naming the operation.
class Backend {
 public:
  virtual ~Backend() = default;

  // What computes, for logs: "the cpu (oneDNN, 1 thread)".
  [[nodiscard]] virtual std::string description() const = 0;
  // Its name and the precision that it computes in, whatever was asked for: "cuda-tf32".
  [[nodiscard]] virtual std::string arithmetic() const = 0;
  // Of a GPU, its place on the PCI bus, by which the driver knows it; empty for others.
  [[nodiscard]] virtual std::string bus_id() const { return {}; }

  // Examples as they come from the host. A gradient is only of use to tests of the first layer.
  virtual std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient = false) = 0;

  // Copies between the host (row-major as in Shape, shape().elements() floats) and a tensor's value or gradient.
  virtual void write(Tensor& tensor, std::span<const float> nchw) = 0;
  virtual void read(const Tensor& tensor, std::span<float> nchw) = 0;
  virtual void write_gradient(Tensor& tensor, std::span<const float> nchw) = 0;
  virtual void read_gradient(const Tensor& tensor, std::span<float> nchw) = 0;

  // Says that this part of host memory will be bound often; it outlives the backend. A device that copies it may do so
  // faster. Changes no result.
  virtual void pin(std::span<float> /*arena*/) {}
  // Says how many floats the arenas will have, before networks are prepared: the device's memory for them is taken
  // first, so that a network that can be prepared can be run. Throws DeviceMemoryExhausted.
  virtual void reserve_arenas(std::size_t /*elements*/) {}
  // Whole arenas in host memory, for all operations until they are bound anew. They must stay unchanged and alive as
  // long as operations that read or write them run. bind_weights comes before forward, bind_gradients before backward.
  virtual void bind_weights(const WeightArena& weights) = 0;
  virtual void bind_gradients(std::span<float> gradients) = 0;
  // Brings the gradient of one parameter, written by backward_parameters, to its place in the bound arena. True: it is
  // there. False: it is on its way, and there when await_delivery returns; every call of that waits for one delivery,
  // in the order in which they began. What is queued meanwhile runs while gradients travel.
  virtual bool deliver(const Extent& parameter) = 0;
  virtual void await_delivery() = 0;

  // The pass that begins: what its operations read beside inputs and weights. Comes before forward, and must stay alive
  // and unchanged until the pass is over.
  virtual void begin(const Pass& pass) = 0;

  // Throws std::invalid_argument also for a layer that this backend does not have.
  virtual Prepared prepare(const LayerTask& task) = 0;
  virtual Forked fork(Tensor& x, std::size_t uses) = 0;
  // The prediction needs a gradient. `example` says what labels there are.
  virtual std::unique_ptr<LossOperation> prepare_loss(const Loss& loss, Tensor& prediction,
                                                      const ExampleShape& example) = 0;
};

// The processor, through oneDNN, with exactly `threads` threads: their number is a part of the arithmetic. Throws
// std::invalid_argument if it is 0 or if OMP_THREAD_LIMIT forbids that many.
std::unique_ptr<Backend> make_cpu_backend(std::uint32_t threads);

}  // namespace ballast
