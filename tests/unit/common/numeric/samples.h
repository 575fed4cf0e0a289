// What the tests of arithmetic share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/numeric/philox.h"

namespace ballast {

// Values of very different magnitudes and both signs, so that another order or rounding would show.
inline std::vector<float> sample(std::size_t count, std::uint32_t which) {
  const RandomStream stream({99, Purpose::probe, 0, which});
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::ldexp(stream.uniform(2 * i) - 0.5F, static_cast<int>(stream.bounded(2 * i + 1, 40)) - 20);
  }
  return values;
}

inline bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

inline constexpr std::size_t kSizes[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 64, 1000, 4099};

// A copy of `values` that begins `shift` bytes behind an aligned address.
class Shifted {
 public:
  Shifted(const std::vector<float>& values, std::size_t shift)
      : bytes_(values.size() * sizeof(float) + 128), count_(values.size()) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    begin_ = bytes_.data() + (64 - address % 64) % 64 + shift;
    if (!values.empty()) {
      std::memcpy(begin_, values.data(), values.size() * sizeof(float));
    }
  }
  [[nodiscard]] float* data() { return reinterpret_cast<float*>(begin_); }
  [[nodiscard]] std::vector<float> values() const {
    std::vector<float> copy(count_);
    if (count_ > 0) {
      std::memcpy(copy.data(), begin_, count_ * sizeof(float));
    }
    return copy;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_;
  std::byte* begin_ = nullptr;
};

}  // namespace ballast
