#include "worker/nvml.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "common/metrics/metrics.h"
#include "worker/gpu_watch.h"

namespace ballast {
namespace {

constexpr const char* kBusId = "0000:65:00.0";

std::string fake(const std::string& kind) { return std::string(FAKE_NVML) + "/fake-nvml-" + kind + ".so"; }

TEST_CASE("what a GPU does is read and exported") {
  Metrics metrics;
  export_gpu(Nvml(kBusId, fake("whole")).read(), GpuSeries(&metrics));
  const std::string text = metrics.text();
  for (const std::string line :
       {"ballast_worker_gpu_utilization 0.87\n", "ballast_worker_gpu_memory_used_bytes 32212254720\n",
        "ballast_worker_gpu_memory_bytes 85899345920\n", "ballast_worker_gpu_clock_hertz 1755000000\n",
        "ballast_worker_gpu_throttled{reason=\"power\"} 1\n", "ballast_worker_gpu_throttled{reason=\"heat\"} 1\n",
        "ballast_worker_gpu_throttled{reason=\"hardware\"} 0\n"}) {
    CAPTURE(line);
    CAPTURE(text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("what the driver does not tell is left out") {
  const GpuReading reading = Nvml(kBusId, fake("unsupported")).read();
  CHECK(reading.utilization == 0.87);
  CHECK_FALSE(reading.throttling.has_value());
}

TEST_CASE("an older driver has the reasons under another name") {
  const auto throttling = Nvml(kBusId, fake("older")).read().throttling;
  REQUIRE(throttling.has_value());
  CHECK(throttling->power);
  CHECK_FALSE(throttling->hardware);
}

TEST_CASE("a library or a GPU that cannot be had") {
  CHECK_THROWS_WITH_AS(Nvml(kBusId, "libnothing.so.1"), doctest::Contains("libnothing.so.1 cannot be loaded: "),
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(Nvml(kBusId, fake("short")),
                       "the NVIDIA management library has no nvmlDeviceGetCurrentClocksThrottleReasons",
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(Nvml("0000:01:00.0", fake("whole")),
                       "the NVIDIA management library does not find GPU 0000:01:00.0: Not Found", std::runtime_error);
}

}  // namespace
}  // namespace ballast
