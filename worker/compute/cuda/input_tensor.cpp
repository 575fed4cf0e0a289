#include "worker/compute/cuda/input_tensor.h"

#include <algorithm>

#include "worker/compute/cuda/status.h"

namespace ballast::cuda {
namespace {

constexpr const char* kWhat = "examples on their way to the device";

}  // namespace

void InputTensor::fill(Context& context, std::span<const float> nchw) {
  check(cudaEventSynchronize(read_.get()), kWhat);
  std::ranges::copy(nchw, staged_.data());
  context.upload(value(), staged_.data(), nchw.size_bytes(), kWhat);
  check(cudaEventRecord(read_.get(), context.upload_stream()), kWhat);
}

}  // namespace ballast::cuda
