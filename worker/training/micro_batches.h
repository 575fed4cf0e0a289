// A slot computed in parts, for models whose activations of a whole slot do not fit into memory, or whose batch
// normalization is to see fewer examples.
#pragma once

#include <cstdint>
#include <memory>

#include "common/arena/arena.h"
#include "worker/models/model.h"

namespace ballast {

// The model, but that train() cuts its batch into micro-batches of so many examples, the last one smaller where they do
// not fill it, and adds their gradients in their order: ((g0 + g1) + g2) + ... Of state that is a running statistic it
// writes the mean of the micro-batches' statistics by their shares of the examples, of other state w + the sum of share
// * (v - w), where v is what a micro-batch makes of w. Part of the arithmetic: another size gives other bits.
// Micro-batch m of a local step draws as local step `local_step` * micro-batches + m. The model itself where `examples`
// is 0. `arena` must outlive it.
std::unique_ptr<Model> with_micro_batches(std::unique_ptr<Model> model, const Arena& arena, std::uint32_t examples);

}  // namespace ballast
