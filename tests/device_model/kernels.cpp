// The backend's kernels as they are, after what a compiler of C++ lacks to read them.
#include "tests/device_model/launch.h"

#include "worker/compute/cuda/kernels/attention.cu"
#include "worker/compute/cuda/kernels/columns.cu"
#include "worker/compute/cuda/kernels/elementwise.cu"
#include "worker/compute/cuda/kernels/embeddings.cu"
#include "worker/compute/cuda/kernels/losses.cu"
#include "worker/compute/cuda/kernels/norms.cu"
#include "worker/compute/cuda/kernels/pooling.cu"
#include "worker/compute/cuda/kernels/recurrent.cu"
#include "worker/compute/cuda/kernels/sequences.cu"
#include "worker/compute/cuda/kernels/trees.cu"
