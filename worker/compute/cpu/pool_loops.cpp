#include "worker/compute/cpu/pool_loops.h"

#include <algorithm>

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {
namespace {

// What is written for eight channels is right for a single one, too.
template <typename Value>
BALLAST_VECTOR_INLINE Value load_as(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename Value>
BALLAST_VECTOR_INLINE void store_as(void* to, const Value& value) {
  std::memcpy(to, &value, sizeof value);
}

// The part of one output's window that is no padding, along one side.
struct Side {
  std::size_t first = 0;  // input that the part begins at
  std::size_t begin = 0;  // places in the window
  std::size_t end = 0;
};

BALLAST_VECTOR_INLINE Side side_of(std::size_t output, std::uint32_t window, std::uint32_t stride,
                                   std::uint32_t padding, std::uint32_t extent) {
  const std::size_t start = output * stride;
  const std::size_t begin = start < padding ? padding - start : 0;
  const std::size_t end = std::min<std::size_t>(window, extent + padding - start);
  return {start + begin - padding, begin, end};
}

struct Window {
  Side h;
  Side w;
};

// One output of as many channels as Value holds; `x` is the first value of the window that is no padding.
template <typename Value, typename Place>
BALLAST_VECTOR_INLINE void pool_window(const PoolPlanes& s, const Window& window, const float* x, float* y,
                                       std::int32_t* winners) {
  auto best = load_as<Value>(x);
  Place where = Place{} + static_cast<std::int32_t>(window.h.begin * s.window.w + window.w.begin);
  for (std::size_t kh = window.h.begin; kh < window.h.end; ++kh) {
    const float* const row = x + (kh - window.h.begin) * s.x_width * s.inner;
    for (std::size_t kw = window.w.begin; kw < window.w.end; ++kw) {
      const auto value = load_as<Value>(row + (kw - window.w.begin) * s.inner);
      // The first not-a-number beats every number and is beaten by none, not even by another.
      // NOLINTNEXTLINE(misc-redundant-expression): a vector has no isnan; only a not-a-number differs from itself
      const auto better = (value > best) | ((value != value) & (best == best));
      best = better ? value : best;
      where = better ? Place{} + static_cast<std::int32_t>(kh * s.window.w + kw) : where;
    }
  }
  store_as(y, best);
  store_as(winners, where);
}

// One output's gradient to its winner. Windows that do not overlap need no sum: each place is written once.
template <bool kOverlap, typename Value, typename Place>
BALLAST_VECTOR_INLINE void unpool_window(const PoolPlanes& s, const Window& window, const float* y_gradient,
                                         const std::int32_t* winners, float* x_gradient) {
  const auto gradient = load_as<Value>(y_gradient);
  const auto winner = load_as<Place>(winners);
  for (std::size_t kh = window.h.begin; kh < window.h.end; ++kh) {
    float* const row = x_gradient + (kh - window.h.begin) * s.x_width * s.inner;
    for (std::size_t kw = window.w.begin; kw < window.w.end; ++kw) {
      float* const target = row + (kw - window.w.begin) * s.inner;
      Value share = winner == Place{} + static_cast<std::int32_t>(kh * s.window.w + kw) ? gradient : Value{};
      if constexpr (kOverlap) {
        share += load_as<Value>(target);
      }
      store_as(target, share);
    }
  }
}

BALLAST_VECTOR_INLINE float share_of(const PoolPlanes& s, const Window& window) {
  const std::size_t counted = s.count_padding ? std::size_t{s.window.h} * s.window.w
                                              : (window.h.end - window.h.begin) * (window.w.end - window.w.begin);
  return static_cast<float>(counted);
}

template <typename Value>
BALLAST_VECTOR_INLINE void average_window(const PoolPlanes& s, const Window& window, const float* x, float* y) {
  Value sum{};
  for (std::size_t kh = 0; kh < window.h.end - window.h.begin; ++kh) {
    Value of_row{};
    for (std::size_t kw = 0; kw < window.w.end - window.w.begin; ++kw) {
      of_row += load_as<Value>(x + (kh * s.x_width + kw) * s.inner);
    }
    sum += of_row;
  }
  store_as(y, sum / (Value{} + share_of(s, window)));
}

template <typename Value>
BALLAST_VECTOR_INLINE void spread_window(const PoolPlanes& s, const Window& window, const float* y_gradient,
                                         float* x_gradient) {
  const Value share = load_as<Value>(y_gradient) / (Value{} + share_of(s, window));
  for (std::size_t kh = 0; kh < window.h.end - window.h.begin; ++kh) {
    for (std::size_t kw = 0; kw < window.w.end - window.w.begin; ++kw) {
      float* const target = x_gradient + (kh * s.x_width + kw) * s.inner;
      store_as(target, load_as<Value>(target) + share);
    }
  }
}

// Calls several(window, y offset, x offset) for kLanes channels of an output and their first inputs at once,
// single(...) for each of the rest.
template <typename Several, typename Single>
BALLAST_VECTOR_INLINE void for_each_window(const PoolPlanes& s, const Several& several, const Single& single) {
  for (std::size_t oh = 0; oh < s.y_height; ++oh) {
    const Side h = side_of(oh, s.window.h, s.stride.h, s.padding.h, s.x_height);
    for (std::size_t ow = 0; ow < s.y_width; ++ow) {
      const Window window{h, side_of(ow, s.window.w, s.stride.w, s.padding.w, s.x_width)};
      const std::size_t to = (oh * s.y_width + ow) * s.inner;
      const std::size_t from = (h.first * s.x_width + window.w.first) * s.inner;
      std::size_t channel = 0;
      for (; channel + kLanes <= s.inner; channel += kLanes) {
        several(window, to + channel, from + channel);
      }
      for (; channel < s.inner; ++channel) {
        single(window, to + channel, from + channel);
      }
    }
  }
}

struct MaxPlane {
  BALLAST_VECTOR_INLINE static void run(const PoolPlanes* planes, const float* x, float* y, std::int32_t* winners) {
    const PoolPlanes& s = *planes;
    for_each_window(
        s,
        [&](const Window& window, std::size_t to, std::size_t from)
            __attribute__((always_inline)) { pool_window<Floats, Ints>(s, window, x + from, y + to, winners + to); },
        [&](const Window& window, std::size_t to, std::size_t from) __attribute__((always_inline)) {
          pool_window<float, std::int32_t>(s, window, x + from, y + to, winners + to);
        });
  }
};

template <bool kOverlap>
BALLAST_VECTOR_INLINE void unpool_windows(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                                          float* x_gradient) {
  for_each_window(
      s,
      [&](const Window& window, std::size_t to, std::size_t from) __attribute__((always_inline)) {
        unpool_window<kOverlap, Floats, Ints>(s, window, y_gradient + to, winners + to, x_gradient + from);
      },
      [&](const Window& window, std::size_t to, std::size_t from) __attribute__((always_inline)) {
        unpool_window<kOverlap, float, std::int32_t>(s, window, y_gradient + to, winners + to, x_gradient + from);
      });
}

struct MaxBackwardPlane {
  BALLAST_VECTOR_INLINE static void run(const PoolPlanes* planes, const float* y_gradient, const std::int32_t* winners,
                                        float* x_gradient) {
    const PoolPlanes& s = *planes;
    const bool tiled =
        s.stride == s.window && s.padding == Pair(0) && s.x_height % s.window.h == 0 && s.x_width % s.window.w == 0;
    if (tiled) {
      unpool_windows<false>(s, y_gradient, winners, x_gradient);
    } else {
      std::fill_n(x_gradient, std::size_t{s.x_height} * s.x_width * s.inner, 0.0F);
      unpool_windows<true>(s, y_gradient, winners, x_gradient);
    }
  }
};

struct AveragePlane {
  BALLAST_VECTOR_INLINE static void run(const PoolPlanes* planes, const float* x, float* y) {
    const PoolPlanes& s = *planes;
    for_each_window(
        s,
        [&](const Window& window, std::size_t to, std::size_t from)
            __attribute__((always_inline)) { average_window<Floats>(s, window, x + from, y + to); },
        [&](const Window& window, std::size_t to, std::size_t from)
            __attribute__((always_inline)) { average_window<float>(s, window, x + from, y + to); });
  }
};

struct AverageBackwardPlane {
  BALLAST_VECTOR_INLINE static void run(const PoolPlanes* planes, const float* y_gradient, float* x_gradient) {
    const PoolPlanes& s = *planes;
    std::fill_n(x_gradient, std::size_t{s.x_height} * s.x_width * s.inner, 0.0F);
    for_each_window(
        s,
        [&](const Window& window, std::size_t to, std::size_t from)
            __attribute__((always_inline)) { spread_window<Floats>(s, window, y_gradient + to, x_gradient + from); },
        [&](const Window& window, std::size_t to, std::size_t from)
            __attribute__((always_inline)) { spread_window<float>(s, window, y_gradient + to, x_gradient + from); });
  }
};

// Calls work(offset in x, offset in y) for every plane.
template <typename Work>
void for_each_plane(const PoolPlanes& s, std::uint32_t threads, const Work& work) {
  const std::size_t x_plane = std::size_t{s.x_height} * s.x_width * s.inner;
  const std::size_t y_plane = std::size_t{s.y_height} * s.y_width * s.inner;
  share_out(s.planes, threads, [&](std::size_t plane) { work(plane * x_plane, plane * y_plane); });
}

}  // namespace

void max_pool_loop(const PoolPlanes& s, const float* x, float* y, std::int32_t* winners, std::uint32_t threads) {
  for_each_plane(s, threads,
                 [&](std::size_t in, std::size_t out) { run_widest<MaxPlane>(&s, x + in, y + out, winners + out); });
}

void max_pool_backward_loop(const PoolPlanes& s, const float* y_gradient, const std::int32_t* winners,
                            float* x_gradient, std::uint32_t threads) {
  for_each_plane(s, threads, [&](std::size_t in, std::size_t out) {
    run_widest<MaxBackwardPlane>(&s, y_gradient + out, winners + out, x_gradient + in);
  });
}

void average_pool_loop(const PoolPlanes& s, const float* x, float* y, std::uint32_t threads) {
  for_each_plane(s, threads, [&](std::size_t in, std::size_t out) { run_widest<AveragePlane>(&s, x + in, y + out); });
}

void average_pool_backward_loop(const PoolPlanes& s, const float* y_gradient, float* x_gradient,
                                std::uint32_t threads) {
  for_each_plane(s, threads, [&](std::size_t in, std::size_t out) {
    run_widest<AverageBackwardPlane>(&s, y_gradient + out, x_gradient + in);
  });
}

}  // namespace ballast::cpu
