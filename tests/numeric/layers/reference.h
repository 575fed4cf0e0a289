// The dumb twin of every layer: what common/network/layers.h says, by plain loops in double. Gradients need no loops:
// they follow from the values by finite differences (layers/check.h).
//
// A new layer: its overload of output_of here, the loops in the file of its family, and a row in layers/kinds.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/network/layers.h"
#include "tests/numeric/layers/values.h"
#include "worker/compute/pass.h"

namespace ballast::layers {

// What a layer is computed from.
struct Given {
  std::span<const Values> inputs;
  std::span<const std::vector<double>> parameters;  // in the order of the layer's description
  const Pass& pass;
  std::uint32_t number = 0;  // of the layer in its network

  [[nodiscard]] const Values& x() const { return inputs[0]; }
  // Of example n.
  [[nodiscard]] std::uint32_t length(std::size_t n) const {
    return pass.batch.lengths.empty() ? x().shape.steps : pass.batch.lengths[n];
  }
};

// Each returns the layer's output; its shape is output_shape's.
Values output_of(const Conv2d& conv, const Given& given);
Values output_of(const Conv1d& conv, const Given& given);
Values output_of(const TransposedConv2d& conv, const Given& given);
Values output_of(const Linear& linear, const Given& given);
Values output_of(const BatchNorm& norm, const Given& given);
Values output_of(const LayerNorm& norm, const Given& given);
Values output_of(const GroupNorm& norm, const Given& given);
Values output_of(const MaxPool2d& pool, const Given& given);
Values output_of(const AveragePool2d& pool, const Given& given);
Values output_of(const GlobalPool2d& pool, const Given& given);
Values output_of(const Add& add, const Given& given);
Values output_of(const Concatenate& concatenate, const Given& given);
Values output_of(const Reshape& reshape, const Given& given);
Values output_of(const Activation& activation, const Given& given);
Values output_of(const Dropout& dropout, const Given& given);
Values output_of(const Embedding& embedding, const Given& given);
Values output_of(const PositionEmbedding& embedding, const Given& given);
Values output_of(const Lstm& lstm, const Given& given);
Values output_of(const Gru& gru, const Given& given);
Values output_of(const TreeLstm& lstm, const Given& given);
Values output_of(const StepPool& pool, const Given& given);
Values output_of(const Attention& attention, const Given& given);

Values reference_output(const Layer& layer, const Given& given);

// Mean and unbiased variance of the slot, in training; where there is one value of each channel, the biased one.
std::vector<std::vector<double>> statistics_of(const BatchNorm& norm, const Given& given);

template <typename Other>
std::vector<std::vector<double>> statistics_of(const Other& /*other*/, const Given& given) {
  return std::vector<std::vector<double>>(given.parameters.size());
}

// What the layer leaves in the gradients of its parameters that are state, by parameter; empty for the others.
std::vector<std::vector<double>> reference_statistics(const Layer& layer, const Given& given);

struct LossReference {
  double loss_sum = 0;
  std::uint32_t correct = 0;
  std::vector<double> predictions;  // rows x outputs
};

LossReference loss_of(const SoftmaxCrossEntropy& loss, const Values& prediction, const ExampleShape& example,
                      const Batch& batch);
LossReference loss_of(const SquaredError& loss, const Values& prediction, const ExampleShape& example,
                      const Batch& batch);
LossReference loss_of(const LogisticLoss& loss, const Values& prediction, const ExampleShape& example,
                      const Batch& batch);

LossReference reference_loss(const Loss& loss, const Values& prediction, const ExampleShape& example,
                             const Batch& batch);

}  // namespace ballast::layers
