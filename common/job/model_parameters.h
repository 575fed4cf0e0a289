// The parameters of each model by name: what servers need to know of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/arena/parameter.h"
#include "common/job/spec.h"

namespace ballast {

// The shape of one example and the number of classes.
struct ExampleShape {
  std::uint32_t channels = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t classes = 0;

  [[nodiscard]] std::size_t features() const { return std::size_t{channels} * height * width; }
};

// The shape of the examples of a data set, known without reading it.
// mnist, glyphs: 1 x 28 x 28, 10 classes. none: all zero. Throws std::invalid_argument for other names.
ExampleShape example_shape(const DataSpec& data);

// The parameters of a model, in arena order: first layer first. `shape` does not matter to the emulated model.
// Weights begin uniform in [-b, b): b = sqrt(6 / fan-in) before a ReLU (K. He et al., "Delving Deep into Rectifiers",
// 2015) and sqrt(3 / fan-in) at the output; biases at zero.
//   mlp       fc1 ... fcN, one for each hidden layer and one for the classes
//   lenet5    conv1 (5 x 5, 6), conv2 (5 x 5, 16), fc1 (120), fc2 (84), fc3 (classes); see worker/models/lenet5.cpp
//   emulated  the preset's or the job's list; tensors of two or more dimensions are weights, others biases or scales
// Throws std::invalid_argument with a sentence for a user: unknown model or preset, examples that do not fit the model.
std::vector<Parameter> declare_parameters(const ModelSpec& model, const ExampleShape& shape);

}  // namespace ballast
