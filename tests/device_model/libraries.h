// What cuBLAS and cuDNN have in common: a handle with a stream, values of two types, and rules about memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/device_model/memory.h"
#include "tests/device_model/streams.h"

namespace ballast::device_model {

enum class Type { float32, bfloat16 };

std::size_t size_of(Type type);
float get(const void* values, Type type, std::size_t index);
std::vector<float> get_all(const void* values, Type type, std::size_t count);
// Rounds to the nearest, among equals to the even.
void put(void* values, Type type, std::size_t index, double value);

// value = alpha * sum + beta * value, where with beta = 0 nothing is read.
struct Scale {
  float alpha = 1;
  float beta = 0;
};
void put_scaled(void* values, Type type, std::size_t index, double sum, const Scale& scale);

// What one call of a library reads and writes.
class Operands {
 public:
  // Misuse where the calling thread's device is not the stream's.
  Operands(const char* function, cudaStream_t stream);

  Operands& reads(std::string_view name, const void* begin, std::size_t bytes);
  // Results and workspaces overlap nothing.
  Operands& writes(std::string_view name, const void* begin, std::size_t bytes);
  void queue(std::function<void()> run);

 private:
  Range require(std::string_view name, const void* begin, std::size_t bytes);

  const char* function_;
  cudaStream_t stream_;
  int device_;
  std::vector<Range> read_;
  std::vector<Range> written_;
  std::vector<Range> allocations_;  // that are written to
};

}  // namespace ballast::device_model
