// The operations of the cpu backend, one file each. Arguments and errors as in worker/compute/backend.h.
#pragma once

#include <memory>

#include "worker/compute/backend.h"
#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/cpu_tensor.h"

namespace ballast::cpu {

Prepared make_conv2d(const Context& context, CpuTensor& x, const Conv2d& conv, const Extent& weights,
                     const Extent& bias);
Prepared make_linear(const Context& context, CpuTensor& x, std::uint32_t units, const Extent& weights,
                     const Extent& bias);
Prepared make_relu(const Context& context, CpuTensor& x);
Prepared make_max_pool2d(const Context& context, CpuTensor& x, const MaxPool2d& pool);
std::unique_ptr<LossOperation> make_softmax_cross_entropy(const Context& context, CpuTensor& logits);

}  // namespace ballast::cpu
