#include "worker/models/hashed_gradient.h"

#include <bit>

#include "common/numeric/instruction_set.h"

namespace ballast {
namespace {

constexpr std::size_t kProbeDistance = 16384;

bool equals_at(std::uint64_t key, std::span<const float> gradient, std::size_t i) {
  const float expected = hashed_value(key, static_cast<std::uint32_t>(i), 0);
  return std::bit_cast<std::uint32_t>(gradient[i]) == std::bit_cast<std::uint32_t>(expected);
}

// The loops of both kinds, to be compiled for several instruction sets: integer arithmetic, one conversion and one
// product for each element, so all give the same bits.
[[gnu::always_inline]] inline void hash_loop(std::uint64_t key, const float* weights, float* gradient, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    gradient[i] = hashed_value(key, static_cast<std::uint32_t>(i), std::bit_cast<std::uint32_t>(weights[i]));
  }
}

[[gnu::always_inline]] inline void fixed_loop(std::uint64_t key, float* gradient, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    gradient[i] = hashed_value(key, static_cast<std::uint32_t>(i), 0);
  }
}

#if defined(__x86_64__)
// Plain x86-64 has no 32-bit vector product: AVX2 makes these loops four times as fast.
[[gnu::target("avx2")]] void hash_loop_avx2(std::uint64_t key, const float* weights, float* gradient, std::size_t n) {
  hash_loop(key, weights, gradient, n);
}
[[gnu::target("avx2")]] void fixed_loop_avx2(std::uint64_t key, float* gradient, std::size_t n) {
  fixed_loop(key, gradient, n);
}
#else
void hash_loop_avx2(std::uint64_t, const float*, float*, std::size_t) {}
void fixed_loop_avx2(std::uint64_t, float*, std::size_t) {}
#endif

}  // namespace

void write_hashed(std::uint64_t key, std::span<const float> weights, std::span<float> gradient) {
  (supported(InstructionSet::avx2) ? hash_loop_avx2 : hash_loop)(key, weights.data(), gradient.data(), gradient.size());
}

void write_fixed(std::uint64_t key, std::span<float> gradient) {
  (supported(InstructionSet::avx2) ? fixed_loop_avx2 : fixed_loop)(key, gradient.data(), gradient.size());
}

bool holds_fixed(std::uint64_t key, std::span<const float> gradient) {
  if (gradient.empty()) {
    return true;
  }
  for (std::size_t i = 0; i < gradient.size(); i += kProbeDistance) {
    if (!equals_at(key, gradient, i)) {
      return false;
    }
  }
  return equals_at(key, gradient, gradient.size() - 1);
}

}  // namespace ballast
