// In the place of NVIDIA's driver: as much of it as the CUDA runtime asks before it gives up,
// and the number of devices, for those who ask the driver itself.
#include "tests/unit/worker/compute/fake_driver.h"

#include <cstdlib>
#include <cstring>

namespace {

// For programs that nobody can call fake_driver_set in: $FAKE_DRIVER_DEVICES.
int devices_from_environment() {
  const char* const text = std::getenv("FAKE_DRIVER_DEVICES");
  return text == nullptr ? 0 : std::atoi(text);
}

FakeDriver state = {.version = 0, .init_result = 0, .devices = devices_from_environment()};

// Never a success: nothing is written to where the caller expects results.
int fail() { return 999; }

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED void fake_driver_set(const FakeDriver* wanted) { state = *wanted; }

EXPORTED int cuDriverGetVersion(int* version) {
  *version = state.version;
  return 0;
}

EXPORTED int cuInit(unsigned /*flags*/) { return state.init_result; }

EXPORTED int cuDeviceGetCount(int* devices) {
  *devices = state.devices;
  return 0;
}

EXPORTED int cuGetProcAddress_v2(const char* name, void** function, int /*version*/, unsigned long long /*flags*/,
                                 int* /*status*/) {
  *function = reinterpret_cast<void*>(fail);
  if (std::strcmp(name, "cuDriverGetVersion") == 0) {
    *function = reinterpret_cast<void*>(cuDriverGetVersion);
  } else if (std::strcmp(name, "cuInit") == 0) {
    *function = reinterpret_cast<void*>(cuInit);
  } else if (std::strncmp(name, "cuGetProcAddress", 16) == 0) {
    *function = reinterpret_cast<void*>(cuGetProcAddress_v2);
  }
  return 0;
}
