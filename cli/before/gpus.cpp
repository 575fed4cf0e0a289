#include "cli/before/gpus.h"

#include <dlfcn.h>

#include <algorithm>

namespace ballast {

namespace {

// Two functions of the driver's interface, which has not changed since its first version. 0 is success.
struct Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*count)(int* devices) = nullptr;
};

}  // namespace

std::uint32_t count_gpus(const std::string& driver) {
  void* const library = ::dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return 0;
  }
  const Driver functions{reinterpret_cast<decltype(Driver::init)>(::dlsym(library, "cuInit")),
                         reinterpret_cast<decltype(Driver::count)>(::dlsym(library, "cuDeviceGetCount"))};
  int devices = 0;
  if (functions.init == nullptr || functions.count == nullptr || functions.init(0) != 0 ||
      functions.count(&devices) != 0) {
    devices = 0;
  }
  // The library stays: one that was started has threads and handles of its own.
  return static_cast<std::uint32_t>(std::max(devices, 0));
}

std::vector<std::string> device_options(const std::string& backend, std::uint32_t worker, std::uint32_t gpus) {
  std::vector<std::string> options = {"--backend", backend};
  if (backend != "cpu" && gpus > 0) {
    options.insert(options.end(), {"--device", std::to_string(worker % gpus)});
  }
  return options;
}

std::string gpus_text(std::uint32_t gpus) {
  if (gpus == 0) {
    return {};
  }
  const auto count = std::to_string(gpus);
  return (gpus == 1 ? "1 GPU is found, for all workers"
                    : count + " GPUs are found: worker i takes GPU i modulo " + count) +
         "; their logs tell what they compute on";
}

}  // namespace ballast
