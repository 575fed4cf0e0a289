#include "worker/data/affine.h"

#include <algorithm>
#include <cstddef>

namespace ballast {
namespace {

constexpr double kRadians = 0.017453292519943295;  // of a degree

// Horner's scheme in x squared: sum of (-1)^i x^2i / (first + 2 i)!, as a factor of x^first / first!.
double taylor(double square, int first, int terms) {
  double sum = 1;
  for (int i = terms; i > 0; --i) {
    const int last = first + 2 * i;
    sum = 1 - sum * square / (last * (last - 1));
  }
  return sum;
}

// The largest whole number that is not above it.
std::int32_t whole_part(double value) {
  const auto whole = static_cast<std::int32_t>(value);
  return static_cast<double>(whole) > value ? whole - 1 : whole;
}

// The places of `from` that come to pixels of `to`: x = x0 + xx * x' + xy * y', y alike.
struct Places {
  double xx, xy, yx, yy;
  double centre_x, centre_y;
  double from_x, from_y;  // the point of `to` that the centre comes to

  Places(const ExampleShape& shape, const Motion& motion)
      : centre_x((shape.width - 1) * 0.5),
        centre_y((shape.height - 1) * 0.5),
        from_x(centre_x + motion.right),
        from_y(centre_y + motion.down) {
    const auto [sine, cosine] = sine_cosine(motion.degrees);
    const double side = motion.flip ? -1 : 1;
    xx = side * (cosine + motion.shear * sine) / motion.scale;
    xy = side * (sine - motion.shear * cosine) / motion.scale;
    yx = -sine / motion.scale;
    yy = cosine / motion.scale;
  }
};

// Two neighbours on an axis, and how much of the second.
struct Between {
  std::size_t low;
  std::size_t high;
  float part;

  Between(double place, std::uint32_t size) {
    const auto last = static_cast<std::int32_t>(size) - 1;
    const auto whole = whole_part(std::clamp(place, -1.0, static_cast<double>(size)));
    low = static_cast<std::size_t>(std::clamp(whole, 0, last));
    high = static_cast<std::size_t>(std::clamp(whole + 1, 0, last));
    part = static_cast<float>(std::clamp(place, -1.0, static_cast<double>(size)) - whole);
  }
};

float mixed(float low, float high, float part) { return (1.0F - part) * low + part * high; }

}  // namespace

SineCosine sine_cosine(double degrees) {
  constexpr int kTerms = 8;
  const auto quarter = whole_part(degrees / 90 + 0.5);
  const double x = (degrees - 90.0 * quarter) * kRadians;
  const double sine = x * taylor(x * x, 1, kTerms);
  const double cosine = taylor(x * x, 0, kTerms);
  switch (((quarter % 4) + 4) % 4) {
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    case 3:
      return {-cosine, sine};
    default:
      return {sine, cosine};
  }
}

void move_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, const Motion& motion) {
  const Places places(shape, motion);
  const std::size_t plane = std::size_t{shape.height} * shape.width;
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    const double down = y - places.from_y;
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      const double right = x - places.from_x;
      const Between column(places.centre_x + places.xx * right + places.xy * down, shape.width);
      const Between row(places.centre_y + places.yx * right + places.yy * down, shape.height);
      const float* above = from.data() + row.low * shape.width;
      const float* below = from.data() + row.high * shape.width;
      float* target = to.data() + std::size_t{y} * shape.width + x;
      for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
        *target = mixed(mixed(above[column.low], above[column.high], column.part),
                        mixed(below[column.low], below[column.high], column.part), row.part);
        above += plane;
        below += plane;
        target += plane;
      }
    }
  }
}

}  // namespace ballast
