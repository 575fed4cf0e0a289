#include "worker/compute/cuda/device.h"

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <array>

#include "worker/compute/cuda/status.h"
#include "worker/compute/module.h"

namespace ballast::cuda {
namespace {

// The oldest that kernels are compiled for (worker/compute/cuda/meson.build).
constexpr int kOldest = 75;
// The oldest with tensor cores for TF32 and bfloat16.
constexpr int kTensorCores = 80;

// 12040 is CUDA 12.4.
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

int driver_version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the driver's version");
  return version;
}

[[noreturn]] void unavailable(cudaError_t status) {
  if (status == cudaErrorInsufficientDriver) {
    const int driver = driver_version();
    throw BackendUnavailable(
        driver == 0 ? std::string("the NVIDIA driver is installed but cannot be used; is its kernel "
                                  "module loaded? `nvidia-smi` says more")
                    : "the NVIDIA driver is too old: it is made for CUDA " + cuda_version(driver) +
                          ", this worker for CUDA " + cuda_version(CUDART_VERSION) + "; install a newer driver");
  }
  if (status == cudaErrorNoDevice) {
    throw BackendUnavailable("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES can hide them)");
  }
  throw BackendUnavailable(std::string("the NVIDIA driver does not work: ") + cudaGetErrorString(status) + " (" +
                           cudaGetErrorName(status) + ")");
}

int count_devices() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    unavailable(status);
  }
  return devices;
}

void require_capability(std::uint32_t device, const cudaDeviceProp& properties, int needed, const std::string& who) {
  const auto text = [](int capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  };
  const int has = properties.major * 10 + properties.minor;
  if (has < needed) {
    throw BackendUnavailable("GPU " + std::to_string(device) + " (" + properties.name + ") has compute capability " +
                             text(has) + ", " + who + " needs " + text(needed) + " or newer");
  }
}

}  // namespace

int open_device(std::uint32_t device, Precision precision) {
  const int devices = count_devices();
  if (device >= static_cast<std::uint32_t>(devices)) {
    throw BackendUnavailable("there is no GPU " + std::to_string(device) + ": this machine shows " +
                             std::to_string(devices) + ", counted from 0");
  }
  const int index = static_cast<int>(device);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "looking at the device");
  if (precision != Precision::float32) {
    require_capability(device, properties, kTensorCores, std::string("training.precision: ") + name_of(precision));
  }
  require_capability(device, properties, kOldest, "this worker");
  // Also makes the CUDA context, which fails where the device is in exclusive use by another process.
  cudaError_t status = cudaSetDevice(index);
  status = status == cudaSuccess ? cudaFree(nullptr) : status;
  if (status != cudaSuccess) {
    throw BackendUnavailable("GPU " + std::to_string(device) + " (" + properties.name +
                             ") cannot be used: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
  }
  return index;
}

std::string bus_id(int device) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device), "looking at the device");
  return text.data();
}

std::string describe_device(int device, Precision precision) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "looking at the device");
  const auto cudnn = static_cast<int>(cudnnGetVersion());
  return "GPU " + std::to_string(device) + ", " + properties.name + ", " + name_of(precision) + ", CUDA " +
         cuda_version(CUDART_VERSION) + ", cuDNN " + std::to_string(cudnn / 10000) + "." +
         std::to_string(cudnn % 10000 / 100) + "." + std::to_string(cudnn % 100);
}

}  // namespace ballast::cuda
