#include "worker/nvml.h"

#include <dlfcn.h>

#include <stdexcept>

namespace ballast {
namespace {

// As NVML's interface has them; its header comes with CUDA, which this is compiled without.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr unsigned long long kPowerCap = 0x04;
constexpr unsigned long long kHardwareSlowdown = 0x08;
constexpr unsigned long long kSoftwareThermal = 0x20;
constexpr unsigned long long kHardwareThermal = 0x40;
constexpr unsigned long long kPowerBrake = 0x80;
constexpr double kMegahertz = 1e6;
constexpr const char* kThrottleReasons = "nvmlDeviceGetCurrentClocksEventReasons";

struct Utilization {
  unsigned gpu;  // percent
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

struct Nvml::Functions {
  explicit Functions(const std::string& name) : library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) {
      throw std::runtime_error(name + " cannot be loaded: " + ::dlerror());
    }
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(error_string, "nvmlErrorString");
    find(handle_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(clock, "nvmlDeviceGetClockInfo");
    // Older drivers know it by its first name, newer ones may not.
    if (::dlsym(library, kThrottleReasons) != nullptr) {
      find(throttle_reasons, kThrottleReasons);
    } else {
      find(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
  }

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) {
      throw std::runtime_error(std::string("the NVIDIA management library has no ") + name);
    }
  }

  void check(int status, const std::string& what) const {
    if (status != kSuccess) {
      throw std::runtime_error(what + ": " + error_string(status));
    }
  }

  void* library;  // stays loaded until the program ends
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*handle_by_bus_id)(const char*, void**) = nullptr;
  int (*utilization)(void*, Utilization*) = nullptr;
  int (*memory)(void*, Memory*) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*throttle_reasons)(void*, unsigned long long*) = nullptr;
};

Nvml::Nvml(const std::string& bus_id, const std::string& library) : functions_(std::make_unique<Functions>(library)) {
  functions_->check(functions_->init(), "the NVIDIA management library does not start");
  if (const int status = functions_->handle_by_bus_id(bus_id.c_str(), &device_); status != kSuccess) {
    functions_->shutdown();
    functions_->check(status, "the NVIDIA management library does not find GPU " + bus_id);
  }
}

Nvml::~Nvml() { functions_->shutdown(); }

GpuReading Nvml::read() const {
  GpuReading reading;
  Utilization utilization{};
  if (functions_->utilization(device_, &utilization) == kSuccess) {
    reading.utilization = utilization.gpu / 100.0;
  }
  Memory memory{};
  if (functions_->memory(device_, &memory) == kSuccess) {
    reading.memory_used = memory.used;
    reading.memory_total = memory.total;
  }
  unsigned megahertz = 0;
  if (functions_->clock(device_, kSmClock, &megahertz) == kSuccess) {
    reading.clock_hertz = megahertz * kMegahertz;
  }
  unsigned long long reasons = 0;
  if (functions_->throttle_reasons(device_, &reasons) == kSuccess) {
    reading.throttling = {(reasons & (kPowerCap | kPowerBrake)) != 0,
                          (reasons & (kSoftwareThermal | kHardwareThermal)) != 0, (reasons & kHardwareSlowdown) != 0};
  }
  return reading;
}

}  // namespace ballast
