// Products of float32 matrices by cuBLAS, row-major as ours are: cuBLAS counts down columns, and so takes each of them
// for its transpose.
#pragma once

#include <cstddef>
#include <string_view>

#include "worker/compute/cuda/context.h"

namespace ballast::cuda {

// Rows are `stride` floats apart. Transposed: of what lies there so.
struct RowMatrix {
  const float* values = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
};

struct ProductSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t summands = 0;
};

// What becomes of what the result held: replaced (not read) or added to.
enum class Into : std::uint8_t { replace, add };

struct ProductResult {
  float* values = nullptr;
  std::size_t stride = 0;
  Into into = Into::replace;
};

// result = left right, or added to it; left is rows x summands, right is summands x columns. Without summands the
// result's rows lie next to each other. A size of 0 is allowed.
void multiply(const Context& context, const ProductSize& size, const RowMatrix& left, const RowMatrix& right,
              const ProductResult& result, std::string_view what);

}  // namespace ballast::cuda
