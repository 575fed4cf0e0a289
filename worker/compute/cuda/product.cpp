#include "worker/compute/cuda/product.h"

#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

cublasOperation_t as(const RowMatrix& matrix) { return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

void multiply(const Context& context, const ProductSize& size, const RowMatrix& left, const RowMatrix& right,
              const ProductResult& result, std::string_view what) {
  const float kept = result.into == Into::add ? 1.0F : 0.0F;
  if (size.rows == 0 || size.columns == 0) {
    return;
  }
  if (size.summands == 0) {
    if (result.into == Into::replace) {
      check(cudaMemsetAsync(result.values, 0, size.rows * size.columns * sizeof(float), context.compute()), what,
            "an empty product");
    }
    return;
  }
  check(cublasSgemm(context.cublas(), as(right), as(left), static_cast<int>(size.columns), static_cast<int>(size.rows),
                    static_cast<int>(size.summands), &kOne, right.values, static_cast<int>(right.stride), left.values,
                    static_cast<int>(left.stride), &kept, result.values, static_cast<int>(result.stride)),
        what, "product");
}

}  // namespace ballast::cuda
