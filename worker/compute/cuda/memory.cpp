#include "worker/compute/cuda/memory.h"

#include <string>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

// Of the device's memory. The driver and the libraries load kernels when they are first called: a network that left no
// room for them would be prepared and then fail.
constexpr std::size_t kKeptFree = std::size_t{256} << 20U;

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

}  // namespace

void* allocate_device(std::size_t bytes, std::string_view what) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  void* memory = nullptr;
  const cudaError_t status = free < kKeptFree + bytes ? cudaErrorMemoryAllocation : cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // or a later kernel's launch would be taken for failed
    throw DeviceMemoryExhausted("cuda: " + std::string(what) + " needs " + mebibytes(bytes) + " of the GPU's memory; " +
                                mebibytes(free) + " of " + mebibytes(total) + " are free, of which " +
                                mebibytes(kKeptFree) + " are kept for the libraries");
  }
  check(status, what, "allocating " + mebibytes(bytes));
  return memory;
}

void* allocate_pinned(std::size_t bytes, std::string_view what) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), what, "allocating " + mebibytes(bytes) + " of pinned host memory");
  return memory;
}

}  // namespace ballast::cuda
