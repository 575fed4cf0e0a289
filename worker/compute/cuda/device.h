// Whether a GPU can be had, and in clear words why not.
#pragma once

#include <cstdint>
#include <string>

#include "worker/compute/backend.h"

namespace ballast::cuda {

// Makes the device the calling thread's and returns its number as the CUDA runtime counts. Throws BackendUnavailable if
// the driver or the device is missing, too old or not to be used.
int open_device(std::uint32_t device, Precision precision);

// "GPU 0, NVIDIA H100 80GB HBM3, float32, CUDA 13.0, cuDNN 9.19.0", of a device that is open.
std::string describe_device(int device, Precision precision);

// Its place on the PCI bus: "0000:65:00.0".
std::string bus_id(int device);

}  // namespace ballast::cuda
