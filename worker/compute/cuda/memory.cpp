#include "worker/compute/cuda/memory.h"

#include <string>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

}  // namespace

void* allocate_device(std::size_t bytes, std::string_view what) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // or a later kernel's launch would be taken for failed
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free memory");
    throw DeviceMemoryExhausted("cuda: " + std::string(what) + " needs " + mebibytes(bytes) + " of the GPU's memory, " +
                                mebibytes(free) + " of " + mebibytes(total) + " are free");
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
