#include "worker/compute/cpu/loops.h"

#include <algorithm>

namespace ballast::cpu {
namespace {

#if defined(__x86_64__)
#define BALLAST_AVX2 [[gnu::target("avx2")]]
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
#else
#define BALLAST_AVX2
bool has_avx2() { return false; }
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

// One more place of the window, for all inner values of one output.
BALLAST_INLINE void challenge(const float* __restrict x, float* __restrict y, std::int32_t* __restrict winners,
                              std::int32_t place, std::size_t inner) {
  for (std::size_t i = 0; i < inner; ++i) {
    const float value = x[i];
    // A first not-a-number beats every number and is beaten by none, not even by another.
    const bool better =
        static_cast<int>(value > y[i]) | (static_cast<int>(value != value) & static_cast<int>(y[i] == y[i]));
    y[i] = better ? value : y[i];
    winners[i] = better ? place : winners[i];
  }
}

BALLAST_INLINE void give_back(const float* __restrict y_gradient, const std::int32_t* __restrict winners,
                              float* __restrict x_gradient, std::int32_t place, std::size_t inner) {
  for (std::size_t i = 0; i < inner; ++i) {
    x_gradient[i] += winners[i] == place ? y_gradient[i] : 0.0F;
  }
}

// Calls visit(offset of the output's inner values, offset of the input's, place in the window).
template <typename Visit>
BALLAST_INLINE void for_each_place(const PoolPlanes& s, const Visit& visit) {
  std::size_t to = 0;
  for (std::size_t oh = 0; oh < s.y_height; ++oh) {
    for (std::size_t ow = 0; ow < s.y_width; ++ow, to += s.inner) {
      std::int32_t place = 0;
      for (std::size_t kh = 0; kh < s.pool.window; ++kh) {
        for (std::size_t kw = 0; kw < s.pool.window; ++kw, ++place) {
          visit(to, ((oh * s.pool.stride + kh) * s.x_width + ow * s.pool.stride + kw) * s.inner, place);
        }
      }
    }
  }
}

BALLAST_INLINE void pool_plane(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners) {
  for_each_place(
      s, [&](std::size_t to, std::size_t from, std::int32_t place) __attribute__((always_inline)) {
        if (place == 0) {
          std::copy_n(x + from, s.inner, y + to);
          std::fill_n(winners + to, s.inner, 0);
        } else {
          challenge(x + from, y + to, winners + to, place, s.inner);
        }
      });
}

BALLAST_INLINE void pool_backward_plane(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                                        float* x_gradient) {
  std::fill_n(x_gradient, std::size_t{s.x_height} * s.x_width * s.inner, 0.0F);
  for_each_place(
      s, [&](std::size_t to, std::size_t from, std::int32_t place) __attribute__((always_inline)) {
        give_back(y_gradient + to, winners + to, x_gradient + from, place, s.inner);
      });
}

void relu_baseline(const float* x, float* y, std::size_t n) { relu_block(x, y, n); }
BALLAST_AVX2 void relu_avx2(const float* x, float* y, std::size_t n) { relu_block(x, y, n); }
void relu_backward_baseline(const float* y, const float* y_gradient, float* x_gradient, std::size_t n) {
  relu_backward_block(y, y_gradient, x_gradient, n);
}
BALLAST_AVX2 void relu_backward_avx2(const float* y, const float* y_gradient, float* x_gradient, std::size_t n) {
  relu_backward_block(y, y_gradient, x_gradient, n);
}
void pool_baseline(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners) {
  pool_plane(s, x, y, winners);
}
BALLAST_AVX2 void pool_avx2(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners) {
  pool_plane(s, x, y, winners);
}
void pool_backward_baseline(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                            float* x_gradient) {
  pool_backward_plane(s, y_gradient, winners, x_gradient);
}
BALLAST_AVX2 void pool_backward_avx2(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                                     float* x_gradient) {
  pool_backward_plane(s, y_gradient, winners, x_gradient);
}

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
  const auto loop = has_avx2() ? relu_avx2 : relu_baseline;
  in_parallel(blocks_of(n), threads, [&](std::size_t block) {
    const std::size_t begin = block * kBlock;
    loop(x + begin, y + begin, std::min(kBlock, n - begin));
  });
}

void relu_backward_loop(const float* y, const float* y_gradient, float* x_gradient, std::size_t n,
                        std::uint32_t threads) {
  const auto loop = has_avx2() ? relu_backward_avx2 : relu_backward_baseline;
  in_parallel(blocks_of(n), threads, [&](std::size_t block) {
    const std::size_t begin = block * kBlock;
    loop(y + begin, y_gradient + begin, x_gradient + begin, std::min(kBlock, n - begin));
  });
}

void max_pool_loop(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners, std::uint32_t threads) {
  const auto loop = has_avx2() ? pool_avx2 : pool_baseline;
  const std::size_t x_plane = std::size_t{s.x_height} * s.x_width * s.inner;
  const std::size_t y_plane = std::size_t{s.y_height} * s.y_width * s.inner;
  in_parallel(s.planes, threads,
              [&](std::size_t plane) { loop(s, x + plane * x_plane, y + plane * y_plane, winners + plane * y_plane); });
}

void max_pool_backward_loop(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                            float* x_gradient, std::uint32_t threads) {
  const auto loop = has_avx2() ? pool_backward_avx2 : pool_backward_baseline;
  const std::size_t x_plane = std::size_t{s.x_height} * s.x_width * s.inner;
  const std::size_t y_plane = std::size_t{s.y_height} * s.y_width * s.inner;
  in_parallel(s.planes, threads, [&](std::size_t plane) {
    loop(s, y_gradient + plane * y_plane, winners + plane * y_plane, x_gradient + plane * x_plane);
  });
}

}  // namespace ballast::cpu
