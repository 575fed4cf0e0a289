#include "common/network/shape.h"

namespace ballast {

std::string example_text(const Shape& shape) {
  std::string text = shape.steps == 1 ? "" : std::to_string(shape.steps) + " steps x ";
  text += std::to_string(shape.c);
  if (shape.h != 1 || shape.w != 1) {
    text += " x " + std::to_string(shape.h) + " x " + std::to_string(shape.w);
  }
  return text;
}

std::string to_string(const Shape& shape) {
  if (shape.steps != 1) {
    return std::to_string(shape.n) + " x " + example_text(shape);
  }
  std::string text;
  for (const std::uint32_t extent : {shape.n, shape.c, shape.h, shape.w}) {
    text += text.empty() ? "" : " x ";
    text += std::to_string(extent);
  }
  return text;
}

}  // namespace ballast
