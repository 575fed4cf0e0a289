#include "bench/traffic.h"

namespace ballast::bench {

namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;
constexpr std::uint64_t kTensors = kTrafficBytes / kMebibyte;

std::string model_of(const Traffic& traffic) {
  std::string model = "model: {name: emulated, compute_ms: 0, gradient: fixed, ";
  if (!traffic.whole_mebibytes) {
    return model + "preset: resnet50}\n";
  }
  model += "parameters: [";
  for (std::uint64_t i = 0; i < kTensors; ++i) {
    model += "{name: t" + std::to_string(i) + ".weight, shape: [512, 512]}" + (i + 1 < kTensors ? ", " : "]}\n");
  }
  return model;
}

}  // namespace

std::uint64_t bytes_of(const Traffic& traffic) {
  return traffic.whole_mebibytes ? kTensors * kMebibyte : kTrafficBytes;
}

std::string job_of(const Traffic& traffic) {
  const auto workers = std::to_string(traffic.workers);
  return "job: bench-traffic\n" + model_of(traffic) +
         "data: {name: none}\n"
         "training: {batch: 64, slots: " +
         workers +
         ", max_steps: 1000000000, seed: 1, "
         "optimizer: {name: sgd, learning_rate: 0.0001, momentum: 0.9}}\n"
         "cluster: {shards: 1, lanes: " +
         std::to_string(traffic.lanes) + ", workers: " + workers + ", start_workers: " + workers + ", transport: " + traffic.transport +
         (traffic.io_threads > 0 ? ", io_threads: " + std::to_string(traffic.io_threads) : std::string()) +
         "}\n"
         "durability: {mode: final}\n";
}

}  // namespace ballast::bench
