// What the worker says where a library refuses.
#include "worker/compute/cuda/status.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "worker/compute/module.h"

namespace ballast {
namespace {

std::string said_of(cudnnStatus_t status) {
  try {
    cuda::check(status, "conv2d of 3x3", "preparing");
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST_CASE("what cuDNN does not support names the backend that computes it") {
  const std::string plain = "cuda: conv2d of 3x3, preparing: cuDNN: an error of the device model";
  const std::string remedy = "; the cpu computes it: start this worker with --backend cpu";
  CHECK(said_of(CUDNN_STATUS_SUCCESS).empty());
  CHECK(said_of(CUDNN_STATUS_EXECUTION_FAILED) == plain);
  CHECK(said_of(CUDNN_STATUS_NOT_SUPPORTED) == plain + remedy);
  CHECK(said_of(CUDNN_STATUS_NOT_SUPPORTED_SHAPE) == plain + remedy);
  CHECK_THROWS_AS(cuda::check(CUDNN_STATUS_NOT_SUPPORTED, "conv2d"), BackendUnavailable);  // a worker ends for good
}

}  // namespace
}  // namespace ballast
