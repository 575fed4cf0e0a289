// Gradients of biases that are sums of a matrix's columns.
#pragma once

#include <cstddef>
#include <string_view>

#include "worker/compute/cuda/context.h"

namespace ballast::cuda {

// While an operation is prepared: room for the sums of matrices of at most so many rows and columns.
void reserve_column_sums(Context& context, std::size_t rows, std::size_t columns, std::string_view what);

// Rows are `stride` floats apart. The gradient becomes their sum, or takes it up where it is shared.
void sum_columns(const Context& context, const float* rows_begin, std::size_t rows, std::size_t stride,
                 const ParameterPlace& gradient, std::string_view what);

}  // namespace ballast::cuda
