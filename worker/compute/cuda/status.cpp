#include "worker/compute/cuda/status.h"

#include <array>
#include <stdexcept>
#include <string>

#include "worker/compute/module.h"

namespace ballast::cuda {
namespace {

std::string failure(std::string_view what, std::string_view part, const std::string& reason) {
  std::string text = "cuda: ";
  text += what;
  if (!part.empty()) {
    text += ", ";
    text += part;
  }
  return text + ": " + reason;
}

// Statuses that tell of a kernel that ran before, not of the call that returns them.
bool may_be_of_an_earlier_call(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t status, std::string_view what, std::string_view part) {
  if (status != cudaSuccess) {
    throw std::runtime_error(
        failure(what, part,
                std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")" +
                    (may_be_of_an_earlier_call(status) ? "; it may be an operation before this one that failed" : "")));
  }
}

void check(cudnnStatus_t status, std::string_view what, std::string_view part) {
  if (status != CUDNN_STATUS_SUCCESS) {
    std::array<char, 512> detail{};
    cudnnGetLastErrorString(detail.data(), detail.size());
    const auto text =
        failure(what, part,
                std::string("cuDNN: ") + cudnnGetErrorString(status) + (detail[0] == '\0' ? "" : "; ") + detail.data());
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) {
      throw BackendUnavailable(text + "; the cpu computes it: start this worker with --backend cpu");
    }
    throw std::runtime_error(text);
  }
}

void check(cublasStatus_t status, std::string_view what, std::string_view part) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(
        failure(what, part,
                std::string("cuBLAS: ") + cublasGetStatusString(status) + " (" + cublasGetStatusName(status) + ")"));
  }
}

}  // namespace ballast::cuda
