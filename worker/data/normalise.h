// From 8 bits a channel to what models are fed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// By channel: (x / 255 - mean) / deviation, in float, each operation rounded by itself. Immutable, hence thread-safe.
class Normalisation {
 public:
  // One entry of each a channel; deviations are above 0.
  Normalisation(std::span<const double> means, std::span<const double> deviations);

  // `pixels` and `features` are planes of equal size, one a channel.
  void apply(std::span<const std::uint8_t> pixels, std::span<float> features) const;

  [[nodiscard]] std::size_t channels() const { return means_.size(); }
  [[nodiscard]] float mean(std::size_t channel) const { return means_[channel]; }
  [[nodiscard]] float deviation(std::size_t channel) const { return deviations_[channel]; }
  // "(x / 255 - mean) / deviation, mean [0.5, 0.25], deviation [1, 1]"
  [[nodiscard]] std::string formula() const;

 private:
  std::vector<float> means_;
  std::vector<float> deviations_;
  std::vector<std::array<float, 256>> tables_;  // by channel, then by value
};

// What the job says, or else: mnist and glyphs: MNIST's usual 0.1307 and 0.3081, mean and deviation of its training
// split; others: 0 and 1. For data of images only.
Normalisation normalisation_of(const DataSpec& data);

}  // namespace ballast
