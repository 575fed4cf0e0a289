// Which backend a worker computes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "worker/compute/backend.h"
#include "worker/compute/module.h"

namespace ballast {

struct BackendRequest {
  std::string backend = "cpu";               // cpu, cuda, or auto: cuda where it can be had, otherwise cpu
  std::uint32_t device = 0;                  // which GPU, as CUDA counts them
  std::uint32_t threads = 1;                 // of the cpu; cuda has no use for them
  Precision precision = Precision::float32;  // of cuda; the cpu has no other than float32, and says so
};

// As job files write it. Throws std::invalid_argument for another word.
Precision precision_named(const std::string& name);

// Told, in a sentence, what was chosen and why not something else.
using Say = std::function<void(const std::string&)>;

// Throws std::invalid_argument for another name of a backend, and what the makers throw: make_cpu_backend,
// load_cuda_backend.
std::unique_ptr<Backend> make_backend(const BackendRequest& request, const CudaFiles& files, const Say& say);

}  // namespace ballast
