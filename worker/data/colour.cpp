#include "worker/data/colour.h"

#include <algorithm>
#include <cstddef>

namespace ballast {
namespace {

float cut(float value) { return std::clamp(value, 0.0F, 1.0F); }

class Planes {
 public:
  Planes(std::span<float> image, std::uint32_t channels)
      : image_(image), channels_(channels), pixels_(image.size() / channels) {}

  [[nodiscard]] std::size_t pixels() const { return pixels_; }
  [[nodiscard]] float luma(std::size_t pixel) const {
    return channels_ == 3
               ? 0.299F * image_[pixel] + 0.587F * image_[pixel + pixels_] + 0.114F * image_[pixel + 2 * pixels_]
               : image_[pixel];
  }
  [[nodiscard]] float mean_luma() const {
    double sum = 0;
    for (std::size_t i = 0; i < pixels_; ++i) {
      sum += static_cast<double>(luma(i));
    }
    return static_cast<float>(sum / static_cast<double>(pixels_));
  }
  // Each channel of a pixel becomes factor * itself + (1 - factor) * other.
  void blend(std::size_t pixel, float factor, float other) {
    for (auto i = pixel; i < image_.size(); i += pixels_) {
      image_[i] = cut(factor * image_[i] + (1.0F - factor) * other);
    }
  }

 private:
  std::span<float> image_;
  std::uint32_t channels_;
  std::size_t pixels_;
};

void scale(std::span<float> image, const Normalisation& normalisation, bool back) {
  const std::size_t plane = image.size() / normalisation.channels();
  for (std::size_t i = 0; i < image.size(); ++i) {
    const float mean = normalisation.mean(i / plane);
    const float deviation = normalisation.deviation(i / plane);
    image[i] = back ? image[i] * deviation + mean : (image[i] - mean) / deviation;
  }
}

}  // namespace

void change_colours(std::span<float> image, const ExampleShape& shape, const Colour& colour,
                    const Normalisation& normalisation) {
  scale(image, normalisation, true);
  Planes planes(image, shape.channels);
  if (colour.brightness != 1.0F) {
    std::ranges::transform(image, image.begin(), [&](float x) { return cut(colour.brightness * x); });
  }
  if (colour.contrast != 1.0F) {
    const float mean = planes.mean_luma();
    for (std::size_t i = 0; i < planes.pixels(); ++i) {
      planes.blend(i, colour.contrast, mean);
    }
  }
  if (colour.saturation != 1.0F) {
    for (std::size_t i = 0; i < planes.pixels(); ++i) {
      planes.blend(i, colour.saturation, planes.luma(i));
    }
  }
  scale(image, normalisation, false);
}

}  // namespace ballast
