// The operations of the cuda backend, one file each. Arguments and errors as in worker/compute/backend.h.
#pragma once

#include <memory>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/cuda_tensor.h"

namespace ballast::cuda {

Prepared make_conv2d(Context& context, CudaTensor& x, const Conv2d& conv, const Extent& weights, const Extent& bias);
Prepared make_linear(Context& context, CudaTensor& x, std::uint32_t units, const Extent& weights, const Extent& bias);
Prepared make_relu(Context& context, CudaTensor& x);
Prepared make_max_pool2d(Context& context, CudaTensor& x, const MaxPool2d& pool);
std::unique_ptr<LossOperation> make_softmax_cross_entropy(Context& context, CudaTensor& logits);

}  // namespace ballast::cuda
