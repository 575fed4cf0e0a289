// A job that is nothing but traffic: 102 MB of gradients up, SGD with momentum, as much down, without any compute time.
#pragma once

#include <cstdint>
#include <string>

namespace ballast::bench {

inline constexpr std::uint64_t kTrafficBytes = 102'228'128;  // 25,557,032 floats

struct Traffic {
  std::string transport = "ipc";
  std::uint32_t workers = 1;
  std::uint32_t io_threads = 0;  // 0: the job's default
  std::uint32_t lanes = 1;
  bool whole_mebibytes = false;  // 97 tensors of 1 MiB instead of ResNet-50's 161 tensors; 101,711,872 bytes
};

// Of Traffic::whole_mebibytes or not.
std::uint64_t bytes_of(const Traffic& traffic);

std::string job_of(const Traffic& traffic);

}  // namespace ballast::bench
