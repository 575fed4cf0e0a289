// Loops over the steps of one example, of `features` values each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast::cpu {

// y = the mean over the steps, summed in their order.
void average_steps(const float* x, std::size_t steps, std::size_t features, float* y);
// Each step's gradient is that of y over the number of steps.
void average_steps_backward(const float* y_gradient, std::size_t steps, std::size_t features, float* x_gradient);

// y = the largest over the steps, and the first step that has it; the first not-a-number wins over everything.
void largest_steps(const float* x, std::size_t steps, std::size_t features, float* y, std::int32_t* winners);

}  // namespace ballast::cpu
