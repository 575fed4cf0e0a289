#include "worker/data/images/resize.h"

#include <algorithm>
#include <vector>

namespace ballast {
namespace {

// What the pixels of an axis are made of: those of the image from `first` on, by these weights, of which each pixel's
// sum is the same.
struct Axis {
  struct Pixel {
    std::uint32_t first = 0;
    std::uint32_t begin = 0;  // of its weights
    std::uint32_t end = 0;
  };
  std::vector<Pixel> pixels;
  std::vector<std::uint32_t> weights;
  std::uint64_t sum = 1;
};

void close(Axis& axis, std::uint32_t first, std::size_t begin) {
  axis.pixels.push_back({first, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(axis.weights.size())});
}

// In units of 1 / to: pixel i covers [i * from, (i + 1) * from), the image's j covers [j * to, (j + 1) * to).
Axis shrunk(std::uint64_t from, std::uint64_t to) {
  Axis axis;
  axis.sum = from;
  for (std::uint64_t i = 0; i < to; ++i) {
    const auto begin = axis.weights.size();
    const auto first = i * from / to;
    for (auto j = first; j * to < (i + 1) * from; ++j) {
      const auto covered = std::min((j + 1) * to, (i + 1) * from) - std::max(j * to, i * from);
      axis.weights.push_back(static_cast<std::uint32_t>(covered));
    }
    close(axis, static_cast<std::uint32_t>(first), begin);
  }
  return axis;
}

// In units of 1 / (2 to): the centre of pixel i lies at (2 i + 1) * from, those of the image at (2 j + 1) * to.
Axis grown(std::uint64_t from, std::uint64_t to) {
  Axis axis;
  axis.sum = 2 * to;
  for (std::uint64_t i = 0; i < to; ++i) {
    const auto begin = axis.weights.size();
    const auto centre = (2 * i + 1) * from;
    const auto before = centre < to ? 0 : std::min((centre - to) / (2 * to), from - 1);
    const auto beyond = centre < to || before + 1 == from ? 0 : (centre - to) % (2 * to);
    axis.weights.push_back(static_cast<std::uint32_t>(axis.sum - beyond));
    if (beyond > 0) {
      axis.weights.push_back(static_cast<std::uint32_t>(beyond));
    }
    close(axis, static_cast<std::uint32_t>(before), begin);
  }
  return axis;
}

Axis axis_of(std::uint32_t from, std::uint32_t to) { return to < from ? shrunk(from, to) : grown(from, to); }

// One row of the result, not yet divided, from the image's rows.
void mix_rows(const Image& image, const Axis& axis, const Axis::Pixel& pixel, std::vector<std::uint64_t>& mixed) {
  std::ranges::fill(mixed, 0);
  for (auto k = pixel.begin; k < pixel.end; ++k) {
    const std::uint64_t weight = axis.weights[k];
    const auto* row = image.pixels.data() + (pixel.first + k - pixel.begin) * image.row_bytes();
    for (std::size_t x = 0; x < mixed.size(); ++x) {
      mixed[x] += weight * row[x];
    }
  }
}

void copy_planes(const Image& image, std::span<std::uint8_t> to) {
  const std::size_t pixels = std::size_t{image.height} * image.width;
  for (std::uint32_t channel = 0; channel < image.channels; ++channel) {
    for (std::size_t i = 0; i < pixels; ++i) {
      to[channel * pixels + i] = image.pixels[i * image.channels + channel];
    }
  }
}

}  // namespace

void resize(const Image& image, std::uint32_t height, std::uint32_t width, std::span<std::uint8_t> to) {
  if (image.height == height && image.width == width) {
    copy_planes(image, to);
    return;
  }
  const Axis rows = axis_of(image.height, height);
  const Axis columns = axis_of(image.width, width);
  const std::uint64_t sum = rows.sum * columns.sum;
  std::vector<std::uint64_t> mixed(image.row_bytes());
  for (std::uint32_t y = 0; y < height; ++y) {
    mix_rows(image, rows, rows.pixels[y], mixed);
    for (std::uint32_t channel = 0; channel < image.channels; ++channel) {
      auto plane = to.subspan(std::size_t{channel} * height * width + std::size_t{y} * width, width);
      for (std::uint32_t x = 0; x < width; ++x) {
        const auto& pixel = columns.pixels[x];
        std::uint64_t total = sum / 2;
        for (auto k = pixel.begin; k < pixel.end; ++k) {
          total += columns.weights[k] * mixed[std::size_t{pixel.first + k - pixel.begin} * image.channels + channel];
        }
        plane[x] = static_cast<std::uint8_t>(total / sum);
      }
    }
  }
}

}  // namespace ballast
