// What nvcc gives kernels, for a compiler of C++: their place in the grid, shuffles, and the launch itself. The marks
// __global__ and __device__ are empty there by CUDA's own headers.
//
// A block of one warp runs in lockstep from shuffle to shuffle, which other blocks may not call.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "tests/device_model/memory.h"
#include "tests/device_model/misuse.h"
#include "tests/device_model/streams.h"
#include "tests/device_model/warp.h"
#include "worker/compute/cuda/kernels/launch.h"

struct PlaceInGrid {
  unsigned x = 0;
};
inline PlaceInGrid blockIdx;
inline PlaceInGrid blockDim;
inline PlaceInGrid gridDim;
inline PlaceInGrid threadIdx;

using std::isnan;

namespace ballast::device_model {

// Other lanes have run when it returns.
template <typename T>
T shuffle(T value, unsigned from) {
  const T received = exchange(value, from);
  threadIdx.x = current_lane();
  return received;
}

}  // namespace ballast::device_model

template <typename T>
T __shfl_sync(unsigned /*lanes*/, T value, unsigned from) {
  return ballast::device_model::shuffle(value, from);
}
template <typename T>
T __shfl_xor_sync(unsigned /*lanes*/, T value, unsigned distance) {
  return ballast::device_model::shuffle(value, threadIdx.x ^ distance);
}
// Lanes at the end, which have no partner, keep their own.
template <typename T>
T __shfl_down_sync(unsigned /*lanes*/, T value, unsigned distance) {
  const unsigned from = threadIdx.x + distance;
  return ballast::device_model::shuffle(value, from < ballast::device_model::kWarp ? from : threadIdx.x);
}

namespace ballast::device_model {

// The allocation that an argument points into.
template <typename T>
void add_allocation(std::vector<Range>& allocations, const T& argument, int device) {
  if constexpr (std::is_pointer_v<T>) {
    allocations.push_back(
        require_on_device("a kernel's launch", "an argument", {argument, sizeof(std::remove_pointer_t<T>)}, device));
  }
}

// From either end.
template <typename Visit>
void for_each_of(unsigned count, bool backwards, const Visit& visit) {
  for (unsigned i = 0; i < count; ++i) {
    visit(backwards ? count - 1 - i : i);
  }
}

inline void run_block(unsigned threads, bool backwards, const std::function<void()>& kernel) {
  const auto run_thread = [&](unsigned thread) {
    threadIdx.x = thread;
    kernel();
  };
  if (threads == kWarp) {
    run_warp(run_thread);
  } else {
    for_each_of(threads, backwards, run_thread);
  }
}

inline void run_grid(const cuda::Grid& grid, const std::function<void()>& kernel) {
  const bool backwards = flip_coin();
  gridDim.x = grid.blocks;
  blockDim.x = grid.threads;
  for_each_of(grid.blocks, backwards, [&](unsigned block) {
    blockIdx.x = block;
    run_block(grid.threads, backwards, kernel);
  });
}

}  // namespace ballast::device_model

namespace ballast::cuda {

template <typename... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), const Grid& grid, cudaStream_t stream,
                   std::type_identity_t<Parameters>... arguments) {
  using namespace device_model;
  if (grid.blocks == 0 || grid.threads == 0) {
    return cudaErrorInvalidConfiguration;
  }
  const Call call;
  const int device = require_own_device("a kernel's launch", stream);
  std::vector<Range> allocations;
  (add_allocation(allocations, arguments, device), ...);
  const auto run = [=] {
    run_grid(grid, [&] { kernel(arguments...); });
    for (const Range& allocation : allocations) {
      require_intact("a kernel", allocation);
    }
  };
  queue(stream, {"a kernel", allocations, run, nullptr});
  return cudaSuccess;
}

}  // namespace ballast::cuda
