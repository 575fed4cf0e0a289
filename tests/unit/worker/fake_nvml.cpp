// In the place of NVIDIA's management library: one GPU, on the bus at 0000:65:00.0.
#include <cstring>

#define EXPORTED extern "C" [[gnu::visibility("default")]]

namespace {

char gpu;
constexpr int kNotFound = 6;
[[maybe_unused]] constexpr int kNotSupported = 3;

int know(const void* device) { return device == &gpu ? 0 : kNotFound; }

}  // namespace

EXPORTED int nvmlInit_v2() { return 0; }
EXPORTED int nvmlShutdown() { return 0; }
EXPORTED const char* nvmlErrorString(int status) { return status == kNotFound ? "Not Found" : "another error"; }

EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (std::strcmp(bus_id, "0000:65:00.0") != 0) {
    return kNotFound;
  }
  *device = &gpu;
  return 0;
}

EXPORTED int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[0] = 87;
  rates[1] = 12;
  return know(device);
}

EXPORTED int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  memory[0] = 80ULL << 30U;
  memory[1] = 50ULL << 30U;
  memory[2] = 30ULL << 30U;
  return know(device);
}

EXPORTED int nvmlDeviceGetClockInfo(void* device, int type, unsigned* megahertz) {
  *megahertz = type == 1 ? 1755 : 1;
  return know(device);
}

#ifndef NO_THROTTLE_REASONS
#ifdef OLDER
EXPORTED int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
#else
EXPORTED int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
#endif
#ifdef THROTTLE_REASONS_UNSUPPORTED
  *reasons = ~0ULL;
  return device == &gpu ? kNotSupported : kNotFound;
#else
  *reasons = 0x04 | 0x40;  // the power cap, and heat
  return know(device);
#endif
}
#endif
