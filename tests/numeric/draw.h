// Shapes, values and labels drawn from a seed; the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/numeric/philox.h"

namespace ballast {

class Draw {
 public:
  // Short values have 8 significant bits at most: no precision rounds them.
  enum class Values { any, short_ones };
  explicit Draw(std::uint64_t seed, Values kind = Values::any) : stream_({seed, Purpose::probe, 0, 0}), kind_(kind) {}

  // first <= result <= last
  std::uint32_t between(std::uint32_t first, std::uint32_t last) {
    return first + stream_.bounded(next_++, last - first + 1);
  }
  // In [-1, 1], a float whatever T is, so that float and double computations start from the same values.
  template <typename T>
  std::vector<T> values(std::size_t count) {
    std::vector<T> values(count);
    std::ranges::generate(values, [&] {
      const float drawn = 2.0F * stream_.uniform(next_++) - 1.0F;
      return static_cast<T>(kind_ == Values::any ? drawn : std::round(128.0F * drawn) / 128.0F);
    });
    return values;
  }
  // Small whole numbers: windows and logits with ties.
  template <typename T>
  std::vector<T> whole_values(std::size_t count, std::uint32_t largest) {
    std::vector<T> values(count);
    std::ranges::generate(values, [&] { return static_cast<T>(between(0, largest)); });
    return values;
  }
  std::vector<std::int32_t> labels(std::size_t count, std::uint32_t classes) {
    std::vector<std::int32_t> labels(count);
    std::ranges::generate(labels, [&] { return static_cast<std::int32_t>(between(0, classes - 1)); });
    return labels;
  }

 private:
  RandomStream stream_;
  Values kind_;
  std::uint64_t next_ = 0;
};

template <typename T>
std::vector<float> to_float(const std::vector<T>& values) {
  std::vector<float> floats(values.size());
  std::ranges::transform(values, floats.begin(), [](T value) { return static_cast<float>(value); });
  return floats;
}

inline std::vector<double> to_double(const std::vector<float>& values) { return {values.begin(), values.end()}; }

}  // namespace ballast
