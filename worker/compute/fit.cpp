#include "worker/compute/fit.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "common/network/infer.h"

namespace ballast {
namespace {

void require_fit(bool fits, const std::string& otherwise) {
  if (!fits) {
    throw std::invalid_argument(otherwise);
  }
}

}  // namespace

void check_input(const Shape& shape) {
  require_fit(shape.elements() > 0, "an input of " + to_string(shape) + " holds no values");
}

void check_copy(const Shape& shape, std::size_t floats) {
  require_fit(floats == shape.elements(),
              std::to_string(floats) + " floats were given for a tensor of " + to_string(shape));
}

Shape fit(const LayerTask& task) {
  std::vector<Shape> inputs;
  for (const Tensor* input : task.inputs) {
    inputs.push_back(input->shape());
  }
  const auto y = output_shape(task.layer, inputs);
  // Shorter sequences than the longest use a part of what is learnt of positions.
  const bool of_part = std::holds_alternative<PositionEmbedding>(task.layer);
  const auto needs = parameters_of(task.layer, inputs);
  bool fits = needs.size() == task.parameters.size();
  for (std::size_t i = 0; fits && i < needs.size(); ++i) {
    const auto given = task.parameters[i].extent.elements;
    fits = given == needs[i].elements() || (of_part && given > needs[i].elements());
  }
  require_fit(fits, "the parameters of " + name_of(task.layer) + " do not have the sizes of its shapes");
  return y;
}

void check_prediction(const Tensor& prediction) {
  require_fit(prediction.with_gradient(), "the prediction that a loss reads needs a gradient");
}

void check_labels(std::span<const std::int32_t> labels, std::size_t rows, std::size_t classes, bool unlabelled) {
  require_fit(labels.size() == rows,
              std::to_string(labels.size()) + " labels were given for " + std::to_string(rows) + " rows");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool known = labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < classes;
    if (!known && !(unlabelled && labels[i] == -1)) {
      throw std::invalid_argument("example " + std::to_string(i) + " of the batch has label " +
                                  std::to_string(labels[i]) + ", but the model knows classes 0 to " +
                                  std::to_string(classes - 1) + "; check the data set");
    }
  }
}

void check_tokens(std::span<const std::int32_t> tokens, std::size_t rows, std::size_t vocabulary) {
  require_fit(tokens.size() == rows,
              std::to_string(tokens.size()) + " tokens were given for " + std::to_string(rows) + " rows");
  for (const std::int32_t token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= vocabulary) {
      throw std::invalid_argument("token " + std::to_string(token) + " is not in the vocabulary of " +
                                  std::to_string(vocabulary) + "; check the data set");
    }
  }
}

void check_targets(std::span<const float> targets, std::size_t examples, std::size_t outputs, bool zero_or_one) {
  require_fit(targets.size() == examples * outputs, std::to_string(targets.size()) + " targets were given for " +
                                                        std::to_string(examples) + " examples of " +
                                                        std::to_string(outputs));
  for (std::size_t i = 0; zero_or_one && i < targets.size(); ++i) {
    if (targets[i] != 0.0F && targets[i] != 1.0F) {
      throw std::invalid_argument("example " + std::to_string(i / outputs) + " of the batch has " +
                                  std::to_string(targets[i]) + " for class " + std::to_string(i % outputs) +
                                  ", which is neither 0 nor 1; check the data set");
    }
  }
}

}  // namespace ballast
