#include "worker/compute/cpu/loops.h"

#include <algorithm>
#include <cstring>

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

// Channels that are worked on at once: one AVX2 register, or two of the baseline. GCC and clang vectors, as neither
// turns the loops below into vector code by itself. All that is written for them is right for a single float, too.
constexpr std::size_t kTogether = 8;
using Floats [[gnu::vector_size(kTogether * sizeof(float))]] = float;
using Places [[gnu::vector_size(kTogether * sizeof(std::int32_t))]] = std::int32_t;

// One output of as many channels as Value holds; `x` is the window's first value.
template <typename Value, typename Place>
BALLAST_INLINE void pool_window(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners) {
  Value best;
  std::memcpy(&best, x, sizeof best);
  Place where{};
  std::int32_t place = 0;
  for (std::size_t kh = 0; kh < s.pool.window.h; ++kh) {
    for (std::size_t kw = 0; kw < s.pool.window.w; ++kw, ++place) {
      Value value;
      std::memcpy(&value, x + (kh * s.x_width + kw) * s.inner, sizeof value);
      // The first not-a-number beats every number and is beaten by none, not even by another.
      // NOLINTNEXTLINE(misc-redundant-expression): a vector has no isnan; only a not-a-number differs from itself
      const auto better = (value > best) | ((value != value) & (best == best));
      best = better ? value : best;
      where = better ? Place{} + place : where;
    }
  }
  std::memcpy(y, &best, sizeof best);
  std::memcpy(winners, &where, sizeof where);
}

// One output's gradient to its winner. Windows that do not overlap need no sum: each place is written once.
template <bool kOverlap, typename Value, typename Place>
BALLAST_INLINE void unpool_window(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                                  float* x_gradient) {
  Value gradient;
  Place winner;
  std::memcpy(&gradient, y_gradient, sizeof gradient);
  std::memcpy(&winner, winners, sizeof winner);
  std::int32_t place = 0;
  for (std::size_t kh = 0; kh < s.pool.window.h; ++kh) {
    for (std::size_t kw = 0; kw < s.pool.window.w; ++kw, ++place) {
      float* const target = x_gradient + (kh * s.x_width + kw) * s.inner;
      Value share = winner == Place{} + place ? gradient : Value{};
      if constexpr (kOverlap) {
        Value sum;
        std::memcpy(&sum, target, sizeof sum);
        share += sum;
      }
      std::memcpy(target, &share, sizeof share);
    }
  }
}

// Calls several(y offset, x offset) for kTogether channels of an output and their first inputs at once, single(...) for
// each of the rest.
template <typename Several, typename Single>
BALLAST_INLINE void for_each_window(const PoolPlanes& s, const Several& several, const Single& single) {
  for (std::size_t oh = 0; oh < s.y_height; ++oh) {
    for (std::size_t ow = 0; ow < s.y_width; ++ow) {
      const std::size_t to = (oh * s.y_width + ow) * s.inner;
      const std::size_t from = (oh * s.pool.stride.h * s.x_width + ow * s.pool.stride.w) * s.inner;
      std::size_t channel = 0;
      for (; channel + kTogether <= s.inner; channel += kTogether) {
        several(to + channel, from + channel);
      }
      for (; channel < s.inner; ++channel) {
        single(to + channel, from + channel);
      }
    }
  }
}

BALLAST_INLINE void pool_plane(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners) {
  for_each_window(
      s,
      [&](std::size_t to, std::size_t from)
          __attribute__((always_inline)) { pool_window<Floats, Places>(s, x + from, y + to, winners + to); },
      [&](std::size_t to, std::size_t from)
          __attribute__((always_inline)) { pool_window<float, std::int32_t>(s, x + from, y + to, winners + to); });
}

template <bool kOverlap>
BALLAST_INLINE void unpool_windows(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                                   float* x_gradient) {
  for_each_window(
      s,
      [&](std::size_t to, std::size_t from) __attribute__((always_inline)) {
        unpool_window<kOverlap, Floats, Places>(s, y_gradient + to, winners + to, x_gradient + from);
      },
      [&](std::size_t to, std::size_t from) __attribute__((always_inline)) {
        unpool_window<kOverlap, float, std::int32_t>(s, y_gradient + to, winners + to, x_gradient + from);
      });
}

BALLAST_INLINE void pool_backward_plane(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                                        float* x_gradient) {
  const bool tiled =
      s.pool.stride == s.pool.window && s.x_height % s.pool.window.h == 0 && s.x_width % s.pool.window.w == 0;
  if (tiled) {
    unpool_windows<false>(s, y_gradient, winners, x_gradient);
  } else {
    std::fill_n(x_gradient, std::size_t{s.x_height} * s.x_width * s.inner, 0.0F);
    unpool_windows<true>(s, y_gradient, winners, x_gradient);
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

void max_pool_loop(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners, std::uint32_t threads) {
  const auto loop = supported(InstructionSet::avx2) ? pool_avx2 : pool_baseline;
  const std::size_t x_plane = std::size_t{s.x_height} * s.x_width * s.inner;
  const std::size_t y_plane = std::size_t{s.y_height} * s.y_width * s.inner;
  in_parallel(s.planes, threads,
              [&](std::size_t plane) { loop(s, x + plane * x_plane, y + plane * y_plane, winners + plane * y_plane); });
}

void max_pool_backward_loop(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                            float* x_gradient, std::uint32_t threads) {
  const auto loop = supported(InstructionSet::avx2) ? pool_backward_avx2 : pool_backward_baseline;
  const std::size_t x_plane = std::size_t{s.x_height} * s.x_width * s.inner;
  const std::size_t y_plane = std::size_t{s.y_height} * s.y_width * s.inner;
  in_parallel(s.planes, threads, [&](std::size_t plane) {
    loop(s, y_gradient + plane * y_plane, winners + plane * y_plane, x_gradient + plane * x_plane);
  });
}

}  // namespace ballast::cpu
