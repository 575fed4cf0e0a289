#include "worker/data/augment.h"

#include <algorithm>

#include "common/numeric/philox.h"

namespace ballast {

Shift draw_shift(std::uint64_t seed, std::uint64_t epoch, std::uint32_t example, std::uint32_t most) {
  const RandomStream stream({seed, Purpose::augment, epoch, example});
  const auto draw = [&](std::uint64_t index) {
    return static_cast<std::int32_t>(stream.bounded(index, 2 * most + 1)) - static_cast<std::int32_t>(most);
  };
  return {draw(0), draw(1)};
}

void shift_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, Shift shift) {
  const auto height = static_cast<std::int32_t>(shape.height);
  const auto width = static_cast<std::int32_t>(shape.width);
  std::size_t at = 0;
  for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
    const auto plane = from.subspan(std::size_t{channel} * shape.height * shape.width);
    for (std::int32_t y = 0; y < height; ++y) {
      const auto row = plane.subspan(static_cast<std::size_t>(std::clamp(y - shift.down, 0, height - 1)) * shape.width);
      for (std::int32_t x = 0; x < width; ++x) {
        to[at++] = row[static_cast<std::size_t>(std::clamp(x - shift.right, 0, width - 1))];
      }
    }
  }
}

}  // namespace ballast
