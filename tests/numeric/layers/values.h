// An activation in double, row-major as Shape says.
#pragma once

#include <cstddef>
#include <vector>

#include "common/network/shape.h"

namespace ballast::layers {

struct Values {
  explicit Values(const Shape& of = {}) : shape(of), values(of.elements()) {}

  // A row is n * steps + step.
  double& at(std::size_t row, std::size_t c, std::size_t h = 0, std::size_t w = 0) {
    return values[index(row, c, h, w)];
  }
  [[nodiscard]] double at(std::size_t row, std::size_t c, std::size_t h = 0, std::size_t w = 0) const {
    return values[index(row, c, h, w)];
  }
  [[nodiscard]] std::size_t index(std::size_t row, std::size_t c, std::size_t h, std::size_t w) const {
    return ((row * shape.c + c) * shape.h + h) * shape.w + w;
  }

  Shape shape;
  std::vector<double> values;
};

}  // namespace ballast::layers
