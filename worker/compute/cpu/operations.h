// The operations of the cpu backend, one file each: what layers become. Arguments and errors as in
// worker/compute/backend.h.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "worker/compute/backend.h"
#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/cpu_tensor.h"

namespace ballast::cpu {

Prepared make(const Context& context, const LayerTask& task, const Conv2d& conv);
Prepared make(const Context& context, const LayerTask& task, const Conv1d& conv);
Prepared make(const Context& context, const LayerTask& task, const TransposedConv2d& conv);
Prepared make(const Context& context, const LayerTask& task, const Linear& linear);
Prepared make(const Context& context, const LayerTask& task, const BatchNorm& norm);
Prepared make(const Context& context, const LayerTask& task, const LayerNorm& norm);
Prepared make(const Context& context, const LayerTask& task, const GroupNorm& norm);
Prepared make(const Context& context, const LayerTask& task, const MaxPool2d& pool);
Prepared make(const Context& context, const LayerTask& task, const AveragePool2d& pool);
Prepared make(const Context& context, const LayerTask& task, const GlobalPool2d& pool);
Prepared make(const Context& context, const LayerTask& task, const Activation& activation);
Prepared make(const Context& context, const LayerTask& task, const Add& add);
Prepared make(const Context& context, const LayerTask& task, const Concatenate& concatenate);
Prepared make(const Context& context, const LayerTask& task, const Reshape& reshape);
Prepared make(const Context& context, const LayerTask& task, const Attention& attention);
Prepared make(const Context& context, const LayerTask& task, const Dropout& dropout);
Prepared make(const Context& context, const LayerTask& task, const Embedding& embedding);
Prepared make(const Context& context, const LayerTask& task, const Gru& gru);
Prepared make(const Context& context, const LayerTask& task, const Lstm& lstm);
Prepared make(const Context& context, const LayerTask& task, const PositionEmbedding& embedding);
Prepared make(const Context& context, const LayerTask& task, const StepPool& pool);
Prepared make(const Context& context, const LayerTask& task, const TreeLstm& lstm);

template <typename Other>
Prepared make(const Context& /*context*/, const LayerTask& task, const Other& /*layer*/) {
  throw std::invalid_argument("the cpu backend has no " + name_of(task.layer));
}

Forked make_fork(const Context& context, CpuTensor& x, std::size_t uses);

std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& example,
                                         const SoftmaxCrossEntropy& loss);
std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& example,
                                         const SquaredError& loss);
std::unique_ptr<LossOperation> make_loss(const Context& context, CpuTensor& prediction, const ExampleShape& example,
                                         const LogisticLoss& loss);

}  // namespace ballast::cpu
