// The operations of the cuda backend, one file each: what layers become. Arguments and errors as in
// worker/compute/backend.h.
#pragma once

#include <memory>

#include "worker/compute/backend.h"
#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/cuda_tensor.h"

namespace ballast::cuda {

Prepared make(Context& context, const LayerTask& task, const Conv2d& conv);
Prepared make(Context& context, const LayerTask& task, const Conv1d& conv);
Prepared make(Context& context, const LayerTask& task, const TransposedConv2d& conv);
Prepared make(Context& context, const LayerTask& task, const Linear& linear);
Prepared make(Context& context, const LayerTask& task, const BatchNorm& norm);
Prepared make(Context& context, const LayerTask& task, const LayerNorm& norm);
Prepared make(Context& context, const LayerTask& task, const GroupNorm& norm);
Prepared make(Context& context, const LayerTask& task, const Embedding& embedding);
Prepared make(Context& context, const LayerTask& task, const PositionEmbedding& embedding);
Prepared make(Context& context, const LayerTask& task, const Lstm& lstm);
Prepared make(Context& context, const LayerTask& task, const Gru& gru);
Prepared make(Context& context, const LayerTask& task, const TreeLstm& lstm);
Prepared make(Context& context, const LayerTask& task, const MaxPool2d& pool);
Prepared make(Context& context, const LayerTask& task, const AveragePool2d& pool);
Prepared make(Context& context, const LayerTask& task, const GlobalPool2d& pool);
Prepared make(Context& context, const LayerTask& task, const StepPool& pool);
Prepared make(Context& context, const LayerTask& task, const Attention& attention);
Prepared make(Context& context, const LayerTask& task, const Activation& activation);
Prepared make(Context& context, const LayerTask& task, const Dropout& dropout);
Prepared make(Context& context, const LayerTask& task, const Add& add);
Prepared make(Context& context, const LayerTask& task, const Concatenate& concatenate);
Prepared make(Context& context, const LayerTask& task, const Reshape& reshape);

Forked make_fork(Context& context, CudaTensor& x, std::size_t uses);

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& example,
                                         const SoftmaxCrossEntropy& loss);

std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& example,
                                         const SquaredError& loss);
std::unique_ptr<LossOperation> make_loss(Context& context, CudaTensor& prediction, const ExampleShape& example,
                                         const LogisticLoss& loss);

}  // namespace ballast::cuda
