// NVIDIA's management library, loaded while the worker runs: what a GPU is doing, as its driver tells.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ballast {

// What the driver does not tell of this GPU is left out.
struct GpuReading {
  std::optional<double> utilization;  // share of the last moments in which a kernel ran, 0 to 1
  std::optional<std::uint64_t> memory_used;
  std::optional<std::uint64_t> memory_total;
  std::optional<double> clock_hertz;  // of its processors
  // Whether it runs slower than it could, and why.
  struct Throttling {
    bool power = false;
    bool heat = false;
    bool hardware = false;  // a slowdown that the board asks for
  };
  std::optional<Throttling> throttling;
};

// One GPU. Not thread-safe.
class Nvml {
 public:
  // `bus_id`: of the GPU on the PCI bus. Throws std::runtime_error if the library cannot be loaded or lacks a function,
  // or if it does not know the GPU.
  explicit Nvml(const std::string& bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] GpuReading read() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

}  // namespace ballast
