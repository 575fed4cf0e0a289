// Every call of CUDA, cuDNN and cuBLAS goes through check(): what fails is named with the operation and its shapes.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string_view>

namespace ballast::cuda {

// `what`: the operation with its shapes; `part`: of it, for example "forward". Throw std::runtime_error unless all went
// well: BackendUnavailable where cuDNN does not support the operation, which no later life changes. An error of an
// earlier kernel may only show at a later call: the text says so where that can be.
void check(cudaError_t status, std::string_view what, std::string_view part = {});
void check(cudnnStatus_t status, std::string_view what, std::string_view part = {});
void check(cublasStatus_t status, std::string_view what, std::string_view part = {});

}  // namespace ballast::cuda
