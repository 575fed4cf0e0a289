// What follows from a layer's description and the shapes of its inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/arena/parameter.h"
#include "common/network/layers.h"
#include "common/network/shape.h"

namespace ballast {

// The shape of the layer's output. Throws std::invalid_argument with what does not fit, in shapes of one example.
Shape output_shape(const Layer& layer, std::span<const Shape> inputs);

// What a layer needs besides inputs. Names are those behind "LAYER."; the inputs' steps are those of the longest
// sequence. Embedding::vocabulary must be known.
std::vector<Parameter> parameters_of(const Layer& layer, std::span<const Shape> inputs);

// Multiplications of one forward pass of one example (in sums of products; elementwise work does not count).
std::uint64_t multiplications(const Layer& layer, std::span<const Shape> inputs);

// That of labels: softmax cross entropy, logistic loss or squared error.
Loss usual_loss(Labels labels);

// Throws std::invalid_argument unless the loss fits the prediction's shape and the examples.
void check_loss(const Loss& loss, const Shape& prediction, const ExampleShape& example);

// Output extents of a window sliding over `extent`; 0 where it does not fit.
constexpr std::uint32_t sliding_outputs(std::uint32_t extent, std::uint32_t window, std::uint32_t stride,
                                        std::uint32_t padding, std::uint32_t dilation = 1) {
  const std::uint64_t reach = std::uint64_t{dilation} * (window - 1) + 1;
  const std::uint64_t padded = extent + 2 * std::uint64_t{padding};
  return padded < reach ? 0 : static_cast<std::uint32_t>((padded - reach) / stride + 1);
}

}  // namespace ballast
