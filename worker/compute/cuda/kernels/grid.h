// What kernels share: how many threads there are, which elements each takes, and sums over a warp. For .cu files.
#pragma once

#include <cstddef>

#include "worker/compute/cuda/kernels/launch.h"

namespace ballast::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr std::size_t kMostBlocks = 4096;  // a thread takes several elements of what is larger
inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;

// One thread for each of n elements.
inline Grid threads_for(std::size_t n) {
  const std::size_t blocks = (n + kThreads - 1) / kThreads;
  return {static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads};
}

__device__ inline std::size_t first_element() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::size_t all_threads() { return std::size_t{gridDim.x} * blockDim.x; }

// Sums over a warp in a fixed tree; every lane gets the same bits, as addition is commutative.
__device__ inline double warp_sum(double value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kWholeWarp, value, distance);
  }
  return value;
}

}  // namespace ballast::cuda
