#include "worker/compute/cpu/loops.h"

#include <algorithm>

#include "common/numeric/instruction_set.h"

namespace ballast::cpu {
namespace {

#if defined(__x86_64__)
#define BALLAST_AVX2 [[gnu::target("avx2")]]
#else
#define BALLAST_AVX2
#endif
#define BALLAST_INLINE [[gnu::always_inline]] inline

BALLAST_INLINE void relu_block(const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = x[i] <= 0.0F ? 0.0F : x[i];
  }
}

BALLAST_INLINE void relu_backward_block(const float* y, const float* y_gradient, float* x_gradient, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    x_gradient[i] = y[i] <= 0.0F ? 0.0F : y_gradient[i];
  }
}

BALLAST_INLINE void add_block(const float* a, const float* b, float* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    sum[i] = a[i] + b[i];
  }
}

void relu_baseline(const float* x, float* y, std::size_t n) { relu_block(x, y, n); }
BALLAST_AVX2 void relu_avx2(const float* x, float* y, std::size_t n) { relu_block(x, y, n); }
void relu_backward_baseline(const float* y, const float* y_gradient, float* x_gradient, std::size_t n) {
  relu_backward_block(y, y_gradient, x_gradient, n);
}
BALLAST_AVX2 void relu_backward_avx2(const float* y, const float* y_gradient, float* x_gradient, std::size_t n) {
  relu_backward_block(y, y_gradient, x_gradient, n);
}
void add_baseline(const float* a, const float* b, float* sum, std::size_t n) { add_block(a, b, sum, n); }
BALLAST_AVX2 void add_avx2(const float* a, const float* b, float* sum, std::size_t n) { add_block(a, b, sum, n); }
// Calls work(i) for i < count, on several threads where it pays.
template <typename Work>
void in_parallel(std::size_t count, std::uint32_t threads, const Work& work) {
  if (threads == 1 || count == 1) {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
    }
    return;
  }
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(threads))
  for (std::size_t i = 0; i < count; ++i) {
    work(i);
  }
}

constexpr std::size_t kBlock = 16384;  // floats of one piece of an elementwise loop

std::size_t blocks_of(std::size_t n) { return (n + kBlock - 1) / kBlock; }

}  // namespace

void relu_loop(const float* x, float* y, std::size_t n, std::uint32_t threads) {
  const auto loop = supported(InstructionSet::avx2) ? relu_avx2 : relu_baseline;
  in_parallel(blocks_of(n), threads, [&](std::size_t block) {
    const std::size_t begin = block * kBlock;
    loop(x + begin, y + begin, std::min(kBlock, n - begin));
  });
}

void relu_backward_loop(const float* y, const float* y_gradient, float* x_gradient, std::size_t n,
                        std::uint32_t threads) {
  const auto loop = supported(InstructionSet::avx2) ? relu_backward_avx2 : relu_backward_baseline;
  in_parallel(blocks_of(n), threads, [&](std::size_t block) {
    const std::size_t begin = block * kBlock;
    loop(y + begin, y_gradient + begin, x_gradient + begin, std::min(kBlock, n - begin));
  });
}

void add_loop(const float* a, const float* b, float* sum, std::size_t n, std::uint32_t threads) {
  const auto loop = supported(InstructionSet::avx2) ? add_avx2 : add_baseline;
  in_parallel(blocks_of(n), threads, [&](std::size_t block) {
    const std::size_t begin = block * kBlock;
    loop(a + begin, b + begin, sum + begin, std::min(kBlock, n - begin));
  });
}

}  // namespace ballast::cpu
