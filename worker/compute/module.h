// Backends in shared modules, loaded while the program runs, so that it starts on machines that lack their libraries.
//
// A module exports one C function, ballast_backend_module, which returns this structure. Everything in it and behind
// Backend is C++: a module and the program that loads it come from the same build, and the loader checks that they do.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "worker/compute/backend.h"

namespace ballast {

// Raised with every change of this file or of backend.h.
inline constexpr std::uint32_t kBackendInterface = 9;

struct BackendModule {
  std::uint32_t interface = 0;  // kBackendInterface of its build
  // On the device of that number. Throws BackendUnavailable.
  std::unique_ptr<Backend> (*make)(std::uint32_t device, Precision precision) = nullptr;
};

// The backend cannot be had on this machine, or not for this model; the text is a sentence for a user that says what is
// missing.
class BackendUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the cuda backend needs to be found before any of it runs.
struct CudaFiles {
  std::string module;                   // path
  std::string driver = "libcuda.so.1";  // as the dynamic linker looks for it
};

// The file that the environment's BALLAST_CUDA_MODULE names ("none", or any that is not there: no cuda); otherwise
// ballast-cuda.so beside the program or in ../lib/ballast.
CudaFiles find_cuda_files();

// Loads the module and makes its backend; modules stay loaded until the program ends. Throws BackendUnavailable if the
// module, the driver, a library that it needs or the device is missing, or if the module is of another build.
std::unique_ptr<Backend> load_cuda_backend(const CudaFiles& files, std::uint32_t device,
                                           Precision precision = Precision::float32);

}  // namespace ballast
