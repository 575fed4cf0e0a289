// The backends under test: every test of operations, networks and models runs on each of them.
//
// The cuda backend is among them where it can be had. Where BALLAST_TEST_CUDA=required it must be.
// BALLAST_TEST_CUDA_DEVICE names another device than 0.
#pragma once

#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "worker/compute/backend.h"
#include "worker/compute/module.h"
#include "worker/models/model.h"

namespace ballast {

struct NamedBackend {
  std::string name;
  MakeBackend make;
  // Of tolerances for sums of products, and for those whose factors are short enough for every precision.
  double looseness = 1;
  double short_looseness = 1;
  double short_conv2d_looseness = 1;
};

// Float32 rounds factors to 24 bits, TF32 to 11, bfloat16 to 8; part of that averages out.
inline constexpr double kTf32Looseness = 1000;
inline constexpr double kBfloat16Looseness = 8 * kTf32Looseness;
// Tensor cores cut off what they add up where float32 rounds it.
inline constexpr double kTensorCoreLooseness = 10;
// Convolutions round their results to bfloat16 as well, by 2^-8 of them at most, over tolerances of 3e-6; before the
// bias is added, with which they may be smaller than without.
inline constexpr double kBfloat16ResultLooseness = 2000;

inline std::unique_ptr<Backend> cuda_under_test(Precision precision) {
  const char* const device = std::getenv("BALLAST_TEST_CUDA_DEVICE");
  return load_cuda_backend(find_cuda_files(), device == nullptr ? 0 : static_cast<std::uint32_t>(std::atoi(device)),
                           precision);
}

// Once for a process: starting CUDA takes a second.
inline bool cuda_can_be_had() {
  static const bool can = [] {
    try {
      cuda_under_test(Precision::float32);
      return true;
    } catch (const BackendUnavailable& reason) {
      const char* const wanted = std::getenv("BALLAST_TEST_CUDA");
      if (wanted != nullptr && std::string_view(wanted) == "required") {
        throw;
      }
      std::printf("without cuda: %s\n", reason.what());
      return false;
    }
  }();
  return can;
}

inline std::vector<NamedBackend> backends_under_test() {
  std::vector<NamedBackend> backends = {{"cpu, 1 thread", on_cpu(1)}};
  if (omp_get_thread_limit() > 1) {  // it is 1 under the thread sanitizer
    backends.push_back({"cpu, 2 threads", on_cpu(2)});
  }
  if (cuda_can_be_had()) {
    backends.push_back({"cuda", [] { return cuda_under_test(Precision::float32); }});
    const auto tf32 = [] { return cuda_under_test(Precision::tf32); };
    backends.push_back({"cuda, tf32", tf32, kTf32Looseness, kTensorCoreLooseness, kTensorCoreLooseness});
    const auto bfloat16 = [] { return cuda_under_test(Precision::bfloat16); };
    backends.push_back(
        {"cuda, bfloat16", bfloat16, kBfloat16Looseness, kTensorCoreLooseness, kBfloat16ResultLooseness});
  }
  return backends;
}

}  // namespace ballast
