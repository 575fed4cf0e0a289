// cuBLAS, as far as the backend calls it. Matrices are stored by columns.
#include <cublas_v2.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/device_model/handles.h"
#include "tests/device_model/libraries.h"
#include "tests/device_model/misuse.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

namespace ballast::device_model {
namespace {

// A product may spoil all of it; so much of it is enough to be noticed.
constexpr std::size_t kSpoiled = 4096;

Handles<cublasContext>& cublas_handles() {
  static Handles<cublasContext> all("handles of cuBLAS");
  return all;
}

struct Matrix {
  const void* values;
  Type type;
  cublasOperation_t as;
  std::size_t stride;  // from one column to the next

  // The vectors of `length` that it is multiplied by, one after the other: its rows or its columns, as it is
  // multiplied.
  [[nodiscard]] std::vector<float> vectors(std::size_t count, std::size_t length, bool rows) const {
    const bool together = (as == CUBLAS_OP_N) != rows;
    std::vector<float> all(count * length);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < length; ++j) {
        all[i * length + j] = get(values, type, together ? i * stride + j : j * stride + i);
      }
    }
    return all;
  }
};

// The bytes from the first value to the last; `rows` and `columns` as it is multiplied.
std::size_t bytes_of(const char* function, const std::string& name, const Matrix& matrix, std::size_t rows,
                     std::size_t columns) {
  const std::size_t height = matrix.as == CUBLAS_OP_N ? rows : columns;
  const std::size_t width = matrix.as == CUBLAS_OP_N ? columns : rows;
  if (matrix.stride < height) {
    misuse(function, "the leading dimension of " + name + " is " + std::to_string(matrix.stride) + ", it has " +
                         std::to_string(height) + " rows");
  }
  return (matrix.stride * (width - 1) + height) * size_of(matrix.type);
}

struct Product {
  std::size_t rows;
  std::size_t columns;
  std::size_t summands;
  Matrix a;
  Matrix b;
  float* c;
  std::size_t c_stride;
  Scale scale;

  void compute() const {
    const std::vector<float> a_rows = a.vectors(rows, summands, true);
    const std::vector<float> b_columns = b.vectors(columns, summands, false);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        const float* const row = &a_rows[i * summands];
        const double sum = std::inner_product(row, row + summands, &b_columns[j * summands], 0.0, std::plus<>(),
                                              [](double x, double y) { return x * y; });
        put_scaled(c, Type::float32, i + j * c_stride, sum, scale);
      }
    }
  }
};

// Of the same product some distance further on, so many times.
struct Batch {
  std::size_t count = 1;
  std::size_t a_apart = 0;
  std::size_t b_apart = 0;
  std::size_t c_apart = 0;

  [[nodiscard]] std::size_t bytes(std::size_t apart, Type type) const { return (count - 1) * apart * size_of(type); }
};

const void* moved(const void* values, Type type, std::size_t by) {
  return static_cast<const std::byte*>(values) + by * size_of(type);
}

cublasStatus_t multiply(const char* function, cublasHandle_t handle, const Product& product, const Batch& batch = {}) {
  const cublasContext& context = cublas_handles().at(function, handle);
  if (context.workspace == nullptr) {
    misuse(function, "cuBLAS has no workspace of its own, so its results may differ from run to run");
  }
  const Matrix c{product.c, Type::float32, CUBLAS_OP_N, product.c_stride};
  Operands operands(function, context.stream);
  operands
      .reads("A", product.a.values,
             bytes_of(function, "A", product.a, product.rows, product.summands) +
                 batch.bytes(batch.a_apart, product.a.type))
      .reads("B", product.b.values,
             bytes_of(function, "B", product.b, product.summands, product.columns) +
                 batch.bytes(batch.b_apart, product.b.type))
      .writes("C", c.values,
              bytes_of(function, "C", c, product.rows, product.columns) + batch.bytes(batch.c_apart, c.type))
      .writes("the workspace", context.workspace, context.workspace_bytes);
  operands.queue([product, batch, workspace = context.workspace, bytes = std::min(context.workspace_bytes, kSpoiled)] {
    std::memset(workspace, 0xFF, bytes);
    for (std::size_t i = 0; i < batch.count; ++i) {
      Product one = product;
      one.a.values = moved(one.a.values, one.a.type, i * batch.a_apart);
      one.b.values = moved(one.b.values, one.b.type, i * batch.b_apart);
      one.c += i * batch.c_apart;
      one.compute();
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

std::size_t size(int value) { return static_cast<std::size_t>(value); }
Type type_of(cudaDataType_t type) { return type == CUDA_R_16BF ? Type::bfloat16 : Type::float32; }

}  // namespace
}  // namespace ballast::device_model

using namespace ballast::device_model;

const char* cublasGetStatusString(cublasStatus_t /*status*/) { return "an error of the device model"; }
const char* cublasGetStatusName(cublasStatus_t /*status*/) { return "an error"; }

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  const Call call;
  *handle = cublas_handles().make();
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  const Call call;
  cublas_handles().destroy("cublasDestroy", handle);
  return CUBLAS_STATUS_SUCCESS;
}

// Takes the workspace away, as the real one does.
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  const Call call;
  device_of("cublasSetStream", stream);
  cublas_handles().at("cublasSetStream", handle) = {stream, nullptr, 0};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  const Call call;
  cublasContext& context = cublas_handles().at("cublasSetWorkspace", handle);
  context.workspace = workspace;
  context.workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t /*handle*/, cublasAtomicsMode_t /*mode*/) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t /*handle*/, cublasMath_t /*mode*/) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t a_as, cublasOperation_t b_as, int rows, int columns,
                           int summands, const float* alpha, const float* a, int a_stride, const float* b, int b_stride,
                           const float* beta, float* c, int c_stride) {
  const Call call;
  return multiply("cublasSgemm", handle,
                  {size(rows),
                   size(columns),
                   size(summands),
                   {a, Type::float32, a_as, size(a_stride)},
                   {b, Type::float32, b_as, size(b_stride)},
                   c,
                   size(c_stride),
                   {*alpha, *beta}});
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t a_as, cublasOperation_t b_as,
                                         int rows, int columns, int summands, const float* alpha, const float* a,
                                         int a_stride, long long int a_apart, const float* b, int b_stride,
                                         long long int b_apart, const float* beta, float* c, int c_stride,
                                         long long int c_apart, int count) {
  const Call call;
  const auto apart = [](long long int distance) { return static_cast<std::size_t>(distance); };
  return multiply("cublasSgemmStridedBatched", handle,
                  {size(rows),
                   size(columns),
                   size(summands),
                   {a, Type::float32, a_as, size(a_stride)},
                   {b, Type::float32, b_as, size(b_stride)},
                   c,
                   size(c_stride),
                   {*alpha, *beta}},
                  {size(count), apart(a_apart), apart(b_apart), apart(c_apart)});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_as, cublasOperation_t b_as, int rows,
                            int columns, int summands, const void* alpha, const void* a, cudaDataType_t a_type,
                            int a_stride, const void* b, cudaDataType_t b_type, int b_stride, const void* beta, void* c,
                            cudaDataType_t c_type, int c_stride, cublasComputeType_t /*compute*/,
                            cublasGemmAlgo_t /*algorithm*/) {
  if (c_type != CUDA_R_32F) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const Call call;
  return multiply("cublasGemmEx", handle,
                  {size(rows),
                   size(columns),
                   size(summands),
                   {a, type_of(a_type), a_as, size(a_stride)},
                   {b, type_of(b_type), b_as, size(b_stride)},
                   static_cast<float*>(c),
                   size(c_stride),
                   {*static_cast<const float*>(alpha), *static_cast<const float*>(beta)}});
}
