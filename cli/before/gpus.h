// The GPUs that processes of this machine can compute on, and who takes which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

// How many GPUs CUDA would show to a process with this one's environment: CUDA_VISIBLE_DEVICES hides some. Asks
// NVIDIA's driver, which is loaded for it; 0 where there is none, or where it does not work.
std::uint32_t count_gpus(const std::string& driver = "libcuda.so.1");

// What a worker of a local run is told of devices: its options. Workers take the GPUs in turn. `backend` as worker
// files have it; `gpus`: how many there are.
std::vector<std::string> device_options(const std::string& backend, std::uint32_t worker, std::uint32_t gpus);

// "2 GPUs are found: worker i takes GPU i modulo 2; their logs tell what they compute on"; empty where there are none.
std::string gpus_text(std::uint32_t gpus);

}  // namespace ballast
