#include "worker/data/affine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "common/numeric/philox.h"
#include "worker/data/augment.h"

namespace ballast {
namespace {

constexpr double kPi = 3.14159265358979323846;

std::vector<float> noise(std::size_t size, std::uint64_t seed) {
  const RandomStream random({seed, Purpose::probe, 0, 0});
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = random.uniform(i);
  }
  return values;
}

TEST_CASE("sine and cosine are those of the mathematics library within 1e-15, and exact at right angles") {
  for (int i = -36000; i <= 36000; ++i) {
    const double degrees = i / 100.0;
    const auto [sine, cosine] = sine_cosine(degrees);
    REQUIRE(std::abs(sine - std::sin(degrees * kPi / 180)) < 1.5e-15);
    REQUIRE(std::abs(cosine - std::cos(degrees * kPi / 180)) < 1.5e-15);
  }
  const std::array<std::array<double, 3>, 5> right = {
      {{0, 0, 1}, {90, 1, 0}, {180, 0, -1}, {-90, -1, 0}, {270, -1, 0}}};
  for (const auto& [degrees, sine, cosine] : right) {
    CHECK(sine_cosine(degrees).sine == sine);
    CHECK(sine_cosine(degrees).cosine == cosine);
  }
}

TEST_CASE("sine and cosine have the same bits on every machine") {
  CHECK(sine_cosine(15).sine == 0x1.0907dc1930690p-2);
  CHECK(sine_cosine(15).cosine == 0x1.ee8dd4748bf15p-1);
}

// move_image's definition with the mathematics library and a matrix that is inverted by Cramer's rule.
float moved_pixel(std::span<const float> plane, const ExampleShape& shape, const Motion& motion, int x, int y) {
  const double sine = std::sin(motion.degrees * kPi / 180);
  const double cosine = std::cos(motion.degrees * kPi / 180);
  const double f = motion.flip ? -1 : 1;
  const double a = motion.scale * cosine * f;
  const double b = motion.scale * (cosine * motion.shear - sine);
  const double c = motion.scale * sine * f;
  const double d = motion.scale * (sine * motion.shear + cosine);
  const double centre_x = (shape.width - 1) / 2.0;
  const double centre_y = (shape.height - 1) / 2.0;
  const double right = x - centre_x - motion.right;
  const double down = y - centre_y - motion.down;
  const double u = (d * right - b * down) / (a * d - b * c) + centre_x;
  const double v = (a * down - c * right) / (a * d - b * c) + centre_y;
  const auto at = [&](double column, double row) {
    const auto i = static_cast<std::size_t>(std::clamp(row, 0.0, shape.height - 1.0));
    const auto j = static_cast<std::size_t>(std::clamp(column, 0.0, shape.width - 1.0));
    return static_cast<double>(plane[i * shape.width + j]);
  };
  const double left = std::floor(u);
  const double top = std::floor(v);
  return static_cast<float>((1 - (v - top)) * ((1 - (u - left)) * at(left, top) + (u - left) * at(left + 1, top)) +
                            (v - top) * ((1 - (u - left)) * at(left, top + 1) + (u - left) * at(left + 1, top + 1)));
}

TEST_CASE("moving is the linear map of its definition, resampled once, whatever the map") {
  const RandomStream random({7, Purpose::probe, 1, 0});
  std::uint64_t draws = 0;
  const auto draw = [&](double least, double most) { return least + (most - least) * random.uniform(draws++); };
  for (const auto& shape :
       {ExampleShape{.channels = 1, .height = 28, .width = 28}, ExampleShape{.channels = 3, .height = 7, .width = 13},
        ExampleShape{.channels = 2, .height = 1, .width = 5}}) {
    const auto image = noise(shape.features(), 3);
    for (int repeat = 0; repeat < 50; ++repeat) {
      const Motion motion{.right = static_cast<std::int32_t>(draw(-5, 5)),
                          .down = static_cast<std::int32_t>(draw(-5, 5)),
                          .degrees = draw(-180, 180),
                          .shear = draw(-1, 1),
                          .scale = draw(0.2, 1.8),
                          .flip = draw(0, 1) < 0.5};
      std::vector<float> moved(image.size());
      move_image(image, moved, shape, motion);
      const std::size_t plane = shape.features() / shape.channels;
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const auto at = static_cast<int>(i % plane);
        const auto width = static_cast<int>(shape.width);
        const auto expected =
            moved_pixel(std::span(image).subspan(i / plane * plane, plane), shape, motion, at % width, at / width);
        REQUIRE(std::abs(moved[i] - expected) < 2e-6F);
      }
    }
  }
}

TEST_CASE("whole pixels, right angles and mirrors move pixels without changing a bit of them") {
  const ExampleShape shape{.channels = 2, .height = 6, .width = 6};
  const auto image = noise(shape.features(), 4);
  std::vector<float> moved(image.size());
  std::vector<float> shifted(image.size());
  move_image(image, moved, shape, {.right = 2, .down = -1});
  shift_image(image, shifted, shape, {.right = 2, .down = -1});
  CHECK(moved == shifted);
  const auto at = [&](std::size_t channel, std::size_t y, std::size_t x) { return (channel * 6 + y) * 6 + x; };
  move_image(image, moved, shape, {.flip = true});
  CHECK(moved[at(1, 2, 0)] == image[at(1, 2, 5)]);
  CHECK(moved[at(0, 5, 4)] == image[at(0, 5, 1)]);
  move_image(image, moved, shape, {.degrees = 90});  // clockwise: the upper left corner comes to the upper right
  CHECK(moved[at(0, 0, 5)] == image[at(0, 0, 0)]);
  CHECK(moved[at(1, 1, 4)] == image[at(1, 1, 1)]);
  move_image(image, moved, shape, {});
  CHECK(moved == image);
}

TEST_CASE("a window cut from a padded image has zeros where the padding is") {
  const ExampleShape shape{.channels = 2, .height = 2, .width = 3};
  const std::vector<float> image = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
  std::vector<float> cropped(image.size());
  crop_image(image, cropped, shape, {.right = 1, .down = 0});
  CHECK(cropped == std::vector<float>{0, 1, 2, 0, 4, 5, 0, 10, 20, 0, 40, 50});
  crop_image(image, cropped, shape, {.right = -1, .down = 1});
  CHECK(cropped == std::vector<float>{0, 0, 0, 2, 3, 0, 0, 0, 0, 20, 30, 0});
}

double cut(double value) { return std::clamp(value, 0.0, 1.0); }

TEST_CASE("brightness, contrast and saturation are those of their definition") {
  const std::vector<double> mean = {0.4, 0.5, 0.6};
  const std::vector<double> deviation = {0.2, 0.25, 0.3};
  const Normalisation normalisation(mean, deviation);
  const ExampleShape shape{.channels = 3, .height = 4, .width = 5};
  const auto raw = noise(60, 9);
  for (const auto& colour : {Colour{1.5F, 1, 1}, Colour{0.5F, 1, 1}, Colour{1, 1.7F, 1}, Colour{1, 0.2F, 1},
                             Colour{1, 1, 1.9F}, Colour{1, 1, 0}, Colour{1.3F, 0.6F, 1.4F}, Colour{1, 1, 1}}) {
    std::vector<double> x(raw.begin(), raw.end());
    const auto luma = [&](std::size_t i) { return 0.299 * x[i] + 0.587 * x[20 + i] + 0.114 * x[40 + i]; };
    std::ranges::transform(x, x.begin(), [&](double v) { return cut(colour.brightness * v); });
    double sum = 0;
    for (std::size_t i = 0; i < 20; ++i) {
      sum += luma(i);
    }
    std::ranges::transform(x, x.begin(),
                           [&](double v) { return cut(colour.contrast * v + (1 - colour.contrast) * sum / 20); });
    for (std::size_t i = 0; i < 20; ++i) {
      const double grey = luma(i);
      for (std::size_t k = i; k < 60; k += 20) {
        x[k] = cut(colour.saturation * x[k] + (1 - colour.saturation) * grey);
      }
    }
    std::vector<float> image(60);
    for (std::size_t i = 0; i < 60; ++i) {
      image[i] = static_cast<float>((raw[i] - mean[i / 20]) / deviation[i / 20]);
    }
    change_colours(image, shape, colour, normalisation);
    for (std::size_t i = 0; i < 60; ++i) {
      REQUIRE(image[i] == doctest::Approx((x[i] - mean[i / 20]) / deviation[i / 20]).epsilon(1e-5));
    }
  }
}

TEST_CASE("what is drawn lies within the job's bounds, reaches near them, and is neutral where nothing is asked") {
  AugmentSpec spec;
  spec.shift = 3;
  spec.rotation = 20;
  spec.shear = 0.3;
  spec.zoom = 0.25;
  spec.flip = 0.5;
  spec.crop = 4;
  spec.brightness = 0.1;
  spec.contrast = 0.2;
  spec.saturation = 0.4;
  double most_degrees = 0;
  double least_scale = 9;
  int flipped = 0;
  for (std::uint32_t example = 0; example < 2000; ++example) {
    const auto drawn = draw_augmentation(1, 5, example, spec);
    const auto shift = draw_shift(1, 5, example, 3);
    REQUIRE(drawn.motion.right == shift.right);
    REQUIRE(drawn.motion.down == shift.down);
    REQUIRE(std::abs(drawn.motion.degrees) <= 20);
    REQUIRE(std::abs(drawn.motion.shear) <= 0.3);
    REQUIRE(std::abs(drawn.motion.scale - 1) <= 0.25);
    REQUIRE(std::abs(drawn.colour.brightness - 1) <= 0.1F + 1e-6F);
    REQUIRE(std::abs(drawn.colour.contrast - 1) <= 0.2F + 1e-6F);
    REQUIRE(std::abs(drawn.colour.saturation - 1) <= 0.4F + 1e-6F);
    REQUIRE(std::max(std::abs(drawn.crop.right), std::abs(drawn.crop.down)) <= 4);
    most_degrees = std::max(most_degrees, drawn.motion.degrees);
    least_scale = std::min(least_scale, drawn.motion.scale);
    flipped += drawn.motion.flip ? 1 : 0;
  }
  CHECK(most_degrees > 19.9);
  CHECK(least_scale < 0.752);
  CHECK(flipped > 900);
  CHECK(flipped < 1100);
  const auto neutral = draw_augmentation(1, 5, 7, {});
  CHECK(neutral.motion.degrees == 0);
  CHECK(neutral.motion.scale == 1);
  CHECK(!neutral.motion.flip);
  CHECK(neutral.colour.brightness == 1);
  CHECK(neutral.crop.right == 0);
}

TEST_CASE("a job that asks for a shift alone gets the bits of a shift alone") {
  const ExampleShape shape{.channels = 1, .height = 9, .width = 9};
  AugmentSpec spec;
  spec.shift = 2;
  const auto image = noise(81, 2);
  std::vector<float> shifted(81);
  std::vector<float> scratch(81);
  for (std::uint32_t example = 0; example < 20; ++example) {
    auto augmented = image;
    augment_image(draw_augmentation(3, 1, example, spec), spec, shape, {{}, {}}, augmented, scratch);
    shift_image(image, shifted, shape, draw_shift(3, 1, example, 2));
    REQUIRE(augmented == shifted);
  }
}

}  // namespace
}  // namespace ballast
