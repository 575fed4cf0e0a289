#include "worker/compute/backend.h"

namespace ballast {

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::uint32_t extent : {shape.n, shape.c, shape.h, shape.w}) {
    text += text.empty() ? "" : " x ";
    text += std::to_string(extent);
  }
  return text;
}

}  // namespace ballast
