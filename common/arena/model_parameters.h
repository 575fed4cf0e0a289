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
// mnist, glyphs: 1 x 28 x 28, 10 classes. none: all zero.
ExampleShape example_shape(const DataSpec& data);

// The parameters of a model, in arena order: first layer first.
std::vector<Parameter> declare_parameters(const ModelSpec& model, const ExampleShape& shape);

}  // namespace ballast
