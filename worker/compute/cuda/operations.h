// The operations of the cuda backend, one file each: what layers become. Arguments and errors as in
// worker/compute/backend.h.
#pragma once

#include <memory>
#include <stdexcept>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/cuda_tensor.h"

namespace ballast::cuda {

Prepared make(Context& context, const LayerTask& task, const Conv2d& conv);
Prepared make(Context& context, const LayerTask& task, const Linear& linear);
Prepared make(Context& context, const LayerTask& task, const MaxPool2d& pool);
Prepared make(Context& context, const LayerTask& task, const Activation& activation);

template <typename Other>
Prepared make(Context& /*context*/, const LayerTask& task, const Other& /*layer*/) {
  throw std::invalid_argument("the cuda backend has no " + name_of(task.layer));
}

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& example,
                                         const SoftmaxCrossEntropy& loss);

template <typename Other>
std::unique_ptr<LossOperation> make_loss(Context& /*context*/, CudaTensor& /*prediction*/,
                                         const ExampleShape& /*example*/, const Other& loss) {
  throw std::invalid_argument("the cuda backend has no " + name_of(Loss(loss)));
}

}  // namespace ballast::cuda
