// The backend's kernels as they are, after what a compiler of C++ lacks to read them.
#include "tests/device_model/launch.h"

#include "worker/compute/cuda/kernels.cu"
