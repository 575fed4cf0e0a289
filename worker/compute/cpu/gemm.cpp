#include "worker/compute/cpu/gemm.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>

#include "worker/compute/cpu/vectors.h"

namespace ballast::cpu {
namespace {

using Dim = dnnl_dim_t;

Dim dim(std::size_t extent) { return static_cast<Dim>(extent); }

// While it lives, oneDNN computes on the calling thread alone: on several it may cut a long sum into theirs.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

void multiply_piece(const ProductSize& size, Factor left, Factor right, float* to, std::size_t to_stride, Into into,
                    float scale) {
  const OneThread one;
  const auto status = dnnl_sgemm(left.transposed ? 'T' : 'N', right.transposed ? 'T' : 'N', dim(size.rows),
                                 dim(size.columns), dim(size.depth), scale, left.at, dim(left.stride), right.at,
                                 dim(right.stride), into == Into::add ? 1.0F : 0.0F, to, dim(to_stride));
  dnnl::error::wrap_c_api(status, "oneDNN could not multiply matrices");
}

// Pieces have kSmallest rows or columns at least, and there are kMost at most.
std::size_t piece_of(std::size_t extent) {
  constexpr std::size_t kSmallest = 144;
  constexpr std::size_t kMost = 8;
  constexpr std::size_t kMultiple = 48;  // of the rows and columns that oneDNN's kernels take at once
  const auto piece = std::max(kSmallest, (extent + kMost - 1) / kMost);
  return (piece + kMultiple - 1) / kMultiple * kMultiple;
}

void fill_with_zeros(const ProductSize& size, float* to, std::size_t to_stride) {
  for (std::size_t row = 0; row < size.rows; ++row) {
    std::fill_n(to + row * to_stride, size.columns, 0.0F);
  }
}

}  // namespace

void multiply(const ProductSize& size, Factor left, Factor right, float* to, std::size_t to_stride, Into into,
              std::uint32_t threads, float scale) {
  if (size.rows == 0 || size.columns == 0) {
    return;
  }
  if (size.depth == 0) {
    if (into == Into::replace) {
      fill_with_zeros(size, to, to_stride);
    }
    return;
  }
  if (size.rows >= size.columns) {
    share_out_pieces(size.rows, piece_of(size.rows), threads, [&](std::size_t begin, std::size_t end) {
      auto part = left;
      part.at += begin * (left.transposed ? 1 : left.stride);
      multiply_piece({end - begin, size.columns, size.depth}, part, right, to + begin * to_stride, to_stride, into,
                     scale);
    });
    return;
  }
  share_out_pieces(size.columns, piece_of(size.columns), threads, [&](std::size_t begin, std::size_t end) {
    auto part = right;
    part.at += begin * (right.transposed ? right.stride : 1);
    multiply_piece({size.rows, end - begin, size.depth}, left, part, to + begin, to_stride, into, scale);
  });
}

}  // namespace ballast::cpu
