#include "worker/compute/fit.h"

#include <stdexcept>
#include <string>

namespace ballast {
namespace {

void require(bool fits, const std::string& otherwise) {
  if (!fits) {
    throw std::invalid_argument(otherwise);
  }
}

}  // namespace

void check_input(const Shape& shape) {
  require(shape.elements() > 0, "an input of " + to_string(shape) + " holds no values");
}

void check_copy(const Shape& shape, std::size_t floats) {
  require(floats == shape.elements(),
          std::to_string(floats) + " floats were given for a tensor of " + to_string(shape));
}

Shape fit_conv2d(const Shape& x, const Conv2d& conv, const Extent& weights, const Extent& bias) {
  require(conv.stride > 0 && conv.kernel > 0 && conv.channels > 0,
          "a convolution needs channels, a kernel and a stride of at least 1");
  const Shape y{x.n, conv.channels, sliding_outputs(x.h, conv.kernel, conv.stride, conv.padding),
                sliding_outputs(x.w, conv.kernel, conv.stride, conv.padding)};
  require(y.h > 0 && y.w > 0,
          "a convolution's kernel of " + std::to_string(conv.kernel) + " does not fit into " + to_string(x));
  const std::uint64_t elements = std::uint64_t{conv.channels} * x.c * conv.kernel * conv.kernel;
  require(weights.elements == elements && bias.elements == conv.channels,
          "a convolution's parameters do not have the sizes of its shapes");
  return y;
}

Shape fit_linear(const Shape& x, std::uint32_t units, const Extent& weights, const Extent& bias) {
  require(units > 0 && weights.elements == units * x.features() && bias.elements == units,
          "a linear layer's parameters do not have the sizes of its shapes");
  return {x.n, units, 1, 1};
}

Shape fit_max_pool2d(const Shape& x, const MaxPool2d& pool) {
  require(pool.stride > 0 && pool.window > 0, "a pooling needs a window and a stride of at least 1");
  require(pool.window <= x.h && pool.window <= x.w,
          "a pooling's window of " + std::to_string(pool.window) + " does not fit into " + to_string(x));
  return {x.n, x.c, sliding_outputs(x.h, pool.window, pool.stride, 0),
          sliding_outputs(x.w, pool.window, pool.stride, 0)};
}

void check_logits(const Tensor& logits) { require(logits.with_gradient(), "the logits of a loss need a gradient"); }

void check_labels(std::span<const std::int32_t> labels, const Shape& logits) {
  require(labels.size() == logits.n,
          std::to_string(labels.size()) + " labels were given for " + std::to_string(logits.n) + " examples");
  const std::size_t classes = logits.features();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= classes) {
      throw std::invalid_argument("example " + std::to_string(i) + " of the batch has label " +
                                  std::to_string(labels[i]) + ", but the model knows classes 0 to " +
                                  std::to_string(classes - 1) + "; check the data set");
    }
  }
}

}  // namespace ballast
