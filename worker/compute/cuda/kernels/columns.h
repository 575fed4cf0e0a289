// The sums of a matrix's columns. All pointers are of the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ballast::cuda {

struct Columns {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;  // from one row to the next

  // Rows that one thread sums.
  [[nodiscard]] constexpr std::size_t pieces() const {
    constexpr std::size_t kOfPiece = 64;
    return (rows + kOfPiece - 1) / kOfPiece;
  }
  // Doubles between two launches.
  [[nodiscard]] constexpr std::size_t scratch() const { return pieces() * columns; }
};

// In double, in an order that follows from the shape alone: a thread for each piece of a column, and then one for each
// column. With `adds` to what the sums are. No rows are allowed.
cudaError_t launch_sum_columns(const Columns& shape, const float* x, bool adds, double* scratch, float* sums,
                               cudaStream_t stream);

}  // namespace ballast::cuda
