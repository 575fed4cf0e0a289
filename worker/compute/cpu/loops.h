// Loops of our own over activations, for operations in which oneDNN's kernels drop what is not a number: a network that
// diverged must not look healthy. Compiled for AVX2 beside the baseline; they choose and add values element by element,
// so neither vector width nor threads change a bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast::cpu {

// y[i] = max(x[i], 0); not-a-number stays. In place if y == x.
void relu_loop(const float* x, float* y, std::size_t n, std::uint32_t threads);

// x_gradient[i] = y[i] > 0 (or not a number) ? y_gradient[i] : 0. In place if x_gradient == y_gradient.
void relu_backward_loop(const float* y, const float* y_gradient, float* x_gradient, std::size_t n,
                        std::uint32_t threads);

// sum[i] = a[i] + b[i]. In place if sum == a.
void add_loop(const float* a, const float* b, float* sum, std::size_t n, std::uint32_t threads);

}  // namespace ballast::cpu
