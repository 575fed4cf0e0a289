#include "cli/data/split_facts.h"

#include <algorithm>
#include <cmath>

namespace ballast {

void PixelSums::add(std::span<const std::uint8_t> pixels) {
  const std::size_t plane = pixels.size() / sums_.size();
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::uint64_t value = pixels[i];
    sums_[i / plane] += value;
    squares_[i / plane] += value * value;
  }
  pixels_ += plane;
}

void PixelSums::tell(SplitFacts& facts) const {
  constexpr double kWhite = 255;
  for (std::size_t channel = 0; channel < sums_.size(); ++channel) {
    const auto count = static_cast<double>(std::max<std::uint64_t>(pixels_, 1));
    const double mean = static_cast<double>(sums_[channel]) / count;
    const double square = static_cast<double>(squares_[channel]) / count;
    facts.mean.push_back(mean / kWhite);
    facts.deviation.push_back(std::sqrt(std::max(0.0, square - mean * mean)) / kWhite);
  }
}

}  // namespace ballast
