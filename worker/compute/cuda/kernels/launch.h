// The one place where kernels are launched: nvcc alone has words for that. Other compilers get by with the declaration,
// which tests/device_model defines in its own way.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

namespace ballast::cuda {

struct Grid {
  unsigned blocks;
  unsigned threads;  // of each block
};

// Queues the kernel and returns the status of its launch.
template <typename... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), const Grid& grid, cudaStream_t stream,
                   std::type_identity_t<Parameters>... arguments)
#ifdef __CUDACC__
{
  kernel<<<grid.blocks, grid.threads, 0, stream>>>(arguments...);
  return cudaGetLastError();
}
#else
    ;
#endif

}  // namespace ballast::cuda
