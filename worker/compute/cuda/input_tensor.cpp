#include "worker/compute/cuda/input_tensor.h"

#include <algorithm>

#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

constexpr const char* kExamples = "examples on their way to the device";

}  // namespace

void InputTensor::fill(Context& context, std::span<const float> nchw) {
  check(cudaEventSynchronize(read_.get()), kExamples);
  std::ranges::copy(nchw, staged_.data());
  context.upload(value(), staged_.data(), nchw.size_bytes(), kExamples);
  check(cudaEventRecord(read_.get(), context.upload_stream()), kExamples);
}

}  // namespace ballast::cuda
