// Vectors of eight floats for loops of our own, as GCC and clang have them. What is written with them runs as it is
// compiled for the baseline and again for AVX2, and gives the same bits: both compute element by element, and neither
// contracts products and sums.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/numeric/instruction_set.h"

#if defined(__x86_64__)
#define BALLAST_VECTOR_AVX2 [[gnu::target("avx2")]]
#else
#define BALLAST_VECTOR_AVX2
#endif
#define BALLAST_VECTOR_INLINE [[gnu::always_inline]] inline

namespace ballast::cpu {

inline constexpr std::size_t kLanes = 8;
using Floats [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using Ints [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;
using Words [[gnu::vector_size(kLanes * sizeof(std::uint32_t))]] = std::uint32_t;  // which may overflow

BALLAST_VECTOR_INLINE Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
BALLAST_VECTOR_INLINE void store(float* to, Floats value) { std::memcpy(to, &value, sizeof value); }

// The first `count` lanes; the others are 0, and are not stored.
BALLAST_VECTOR_INLINE Floats load_some(const float* from, std::size_t count) {
  Floats value{};
  std::memcpy(&value, from, count * sizeof(float));
  return value;
}
BALLAST_VECTOR_INLINE void store_some(float* to, Floats value, std::size_t count) {
  std::memcpy(to, &value, count * sizeof(float));
}

// Calls body(i, lanes) for every eighth i < n; lanes.get and lanes.put load and store what there is from i on.
struct WholeLanes {
  BALLAST_VECTOR_INLINE static Floats get(const float* from) { return load(from); }
  BALLAST_VECTOR_INLINE static void put(float* to, Floats value) { store(to, value); }
};
struct SomeLanes {
  std::size_t count;
  [[nodiscard]] BALLAST_VECTOR_INLINE Floats get(const float* from) const { return load_some(from, count); }
  BALLAST_VECTOR_INLINE void put(float* to, Floats value) const { store_some(to, value, count); }
};
template <typename Body>
BALLAST_VECTOR_INLINE void in_vectors(std::size_t n, const Body& body) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    body(i, WholeLanes{});
  }
  if (i < n) {
    body(i, SomeLanes{n - i});
  }
}
// Of lambdas that are handed to it: between their parameters and their body.
#define BALLAST_VECTOR_LAMBDA __attribute__((always_inline))

BALLAST_VECTOR_INLINE Floats all_lanes(float value) { return Floats{} + value; }

// The lanes' sum and largest value, always in the same order. The largest of what is not a number is any.
BALLAST_VECTOR_INLINE float sum_of(Floats v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}
BALLAST_VECTOR_INLINE float largest_of(Floats v) {
  float largest = v[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    largest = v[lane] > largest ? v[lane] : largest;
  }
  return largest;
}

// Runs Kernel::run, an always inlined function, compiled for the widest vectors that the processor has.
template <typename Kernel, typename... Arguments>
void run_baseline(Arguments... arguments) {
  Kernel::run(arguments...);
}
template <typename Kernel, typename... Arguments>
BALLAST_VECTOR_AVX2 void run_avx2(Arguments... arguments) {
  Kernel::run(arguments...);
}
template <typename Kernel, typename... Arguments>
void run_widest(Arguments... arguments) {
  if (supported(InstructionSet::avx2)) {
    run_avx2<Kernel>(arguments...);
  } else {
    run_baseline<Kernel>(arguments...);
  }
}

// Calls work(i) for i < count, on several threads if there are several.
template <typename Work>
void share_out(std::size_t count, std::uint32_t threads, const Work& work) {
  if (threads == 1 || count <= 1) {
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

// Calls work(begin, end) for pieces of [0, n), which depend on n alone.
template <typename Work>
void share_out_pieces(std::size_t n, std::size_t piece, std::uint32_t threads, const Work& work) {
  share_out((n + piece - 1) / piece, threads, [&](std::size_t i) { work(i * piece, std::min(n, (i + 1) * piece)); });
}

inline constexpr std::size_t kPiece = 16384;  // floats of one piece of an elementwise loop

// How many rows of so many floats make a piece.
constexpr std::size_t rows_of_piece(std::size_t floats) {
  return std::max<std::size_t>(1, kPiece / std::max<std::size_t>(1, floats));
}

}  // namespace ballast::cpu
