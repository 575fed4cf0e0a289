// What the cells of recurrent and tree LSTMs have in common. For .cu files.
#pragma once

namespace ballast::cuda {

__device__ inline float sigmoid_of(float x) { return 1.0F / (1.0F + expf(-x)); }

}  // namespace ballast::cuda
