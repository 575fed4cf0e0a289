// The emulated model: any list of parameters, a stated compute time and deterministic gradients of no meaning. It
// stands in for big networks where transport, stragglers and scaling are measured.
#pragma once

#include <memory>

#include "common/arena/arena.h"
#include "common/job/spec.h"
#include "worker/models/model.h"

namespace ballast {

// Gradients lie in [-0.001, 0.001), two kinds of them (ModelSpec::gradient):
//
//   hashed  depends on (seed, step, slot, parameter, element) and on the bits of the weight, so that a gradient
//   computed
//           from wrong weights is a wrong gradient.
//   fixed   depends on (slot, parameter, element) alone, and is written only where the gradient buffer does not hold it
//           already, so that transport can be measured almost without computing.
//
// A slot takes compute_ms: a third before its gradients, the rest spread over them as they become ready, by their size.
// The loss is a cheap function of the weights. Throws std::invalid_argument for another kind or a time that is
// negative, not finite or longer than an hour.
std::unique_ptr<Model> make_emulated(const ModelSpec& spec, const Arena& arena);

}  // namespace ballast
