#include "common/numeric/vector.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/numeric/unaligned.h"

namespace ballast {

namespace {

constexpr std::size_t kBlock = 1024;  // floats: what is kept of the left operand stays in the first cache

// All ones if the value is an infinity or a NaN, else 0: an exponent of all ones (IEEE 754). Integer arithmetic without
// branches, for compilers to vectorize.
std::uint32_t not_finite(float value) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  return (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? ~0U : 0U;
}

// sums[i] += addends[i]; `before` keeps what the sums were. Not 0 if some sum is not finite.
std::uint32_t add_block(void* __restrict sums, const void* __restrict addends, float* __restrict before,
                        std::size_t n) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    before[i] = load_float(sums, i);
    const float sum = before[i] + load_float(addends, i);
    store_float(sums, i, sum);
    found |= not_finite(sum);
  }
  return found;
}

std::uint32_t look(const void* values, std::size_t n) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    found |= not_finite(load_float(values, i));
  }
  return found;
}

}  // namespace

// Bound by memory already in the 16-byte vectors of plain x86-64: AVX2 and AVX-512 measured within 5 % of it, so there
// is no choice of instruction set at run time.
void add_into(float* left, const float* right, std::size_t n) {
  void* const __restrict sums = left;
  const void* const __restrict addends = right;
  for (std::size_t i = 0; i < n; ++i) {
    store_float(sums, i, load_float(sums, i) + load_float(addends, i));
  }
}

// A sum with an operand that is not finite is not finite either: only blocks with such a sum are looked at again.
Finite add_into_looking(float* left, const float* right, std::size_t n) {
  float before[kBlock];
  Finite finite;
  auto* const sums = reinterpret_cast<std::byte*>(left);
  const auto* const addends = reinterpret_cast<const std::byte*>(right);
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const auto count = std::min(kBlock, n - begin);
    const auto* const addend = addends + begin * sizeof(float);
    if (add_block(sums + begin * sizeof(float), addend, before, count) != 0) {
      finite.sum = false;
      finite.left = finite.left && look(before, count) == 0;
      finite.right = finite.right && look(addend, count) == 0;
    }
  }
  return finite;
}

bool all_finite(std::span<const float> values) { return look(values.data(), values.size()) == 0; }

}  // namespace ballast
