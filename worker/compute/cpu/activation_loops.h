// Activations element by element. Not-a-number stays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/network/layers.h"

namespace ballast::cpu {

// Whether the derivative is computed from the activation's result, which may then lie where its input lay.
bool follows_from_result(const Activation& activation);

// y[i] = f(x[i]). In place if y == x.
void activate(const Activation& activation, const float* x, float* y, std::size_t n, std::uint32_t threads);

// x_gradient[i] = f'(x[i]) * y_gradient[i]; `known` has y[i] if the derivative follows from the result, x[i] otherwise.
// In place if x_gradient == y_gradient.
void activate_backward(const Activation& activation, const float* known, const float* y_gradient, float* x_gradient,
                       std::size_t n, std::uint32_t threads);

}  // namespace ballast::cpu
