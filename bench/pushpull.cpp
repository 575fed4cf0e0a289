// The parameter server's own work: a gradient of ResNet-50's size goes up, SGD with momentum is applied, weights come
// down. The ratio to a bare socket tells what Ballast adds to the transport.
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/raw_stream.h"
#include "bench/spread.h"
#include "bench/traffic.h"

namespace ballast::bench {

namespace {

constexpr double kPushpullSeconds = 4;

struct PushpullSetting {
  const char* work;
  const char* transport;
  std::uint32_t workers;
};

constexpr PushpullSetting kPushpullSettings[] = {
    {"apply", "tcp", 1},
    {"apply", "ipc", 1},
    {"sum and apply", "tcp", 2},
    {"sum and apply", "ipc", 2},
};

Progressed run_once(const PushpullSetting& setting, double seconds, const Options& options) {
  LocalCluster cluster(job_of(Traffic{setting.transport, setting.workers}), setting.workers, false, options);
  cluster.warm_up();
  return cluster.measure(seconds);
}

Row measure(const PushpullSetting& setting, const Options& options) {
  const double seconds = options.seconds.value_or(kPushpullSeconds);
  std::vector<double> goodputs;
  std::vector<double> raws;
  std::vector<double> raw_cpu;
  std::vector<double> ratios;
  Progressed total;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    // Half of the baseline before and half after, so that a machine that grows busier does not tilt the ratio.
    const auto before = raw_rate(setting.transport, kTrafficBytes, seconds / 4);
    const auto progressed = run_once(setting, seconds, options);
    const auto after = raw_rate(setting.transport, kTrafficBytes, seconds / 4);
    total.steps += progressed.steps;
    total.seconds += progressed.seconds;
    total.server_cpu_seconds += progressed.server_cpu_seconds;
    total.worker_cpu_seconds += progressed.worker_cpu_seconds;
    raws.push_back((before.bytes_per_second + after.bytes_per_second) / 2e9);
    raw_cpu.push_back((before.cpu_seconds_per_byte + after.cpu_seconds_per_byte) / 2 * 1e3 * kTrafficBytes);
    goodputs.push_back(static_cast<double>(kTrafficBytes * progressed.steps) / progressed.seconds / 1e9);
    ratios.push_back(goodputs.back() / raws.back());
  }
  const auto ratio = spread_of(ratios);
  return {{"work", setting.work},
          {"transport", setting.transport},
          {"workers", std::uint64_t{setting.workers}},
          {"goodput_gb_s", spread_of(goodputs).median},
          {"raw_gb_s", spread_of(raws).median},
          {"ratio_to_raw", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"server_cpu_ms", 1e3 * total.server_cpu_seconds / static_cast<double>(total.steps)},
          {"worker_cpu_ms", 1e3 * total.worker_cpu_seconds / static_cast<double>(total.steps)},
          {"raw_cpu_ms", spread_of(raw_cpu).median},
          {"steps", total.steps},
          {"seconds", total.seconds}};
}

}  // namespace

Result pushpull(const Options& options) {
  Result result;
  result.how =
      "1 ballast-server (1 lane) and its workers, real processes; emulated model, preset resnet50, fixed gradient, no "
      "compute time. apply: one worker pushes roots, the server applies SGD with momentum. sum and apply: each of two "
      "workers pushes one leaf, the server adds them first. goodput: 102,228,128 bytes x steps / seconds for each "
      "worker, one way counted though as many bytes come back; steps from the lead's status after 5 steps of warm-up. "
      "raw: two processes moving the same array both ways at once over one TCP or Unix socket, bytes a second one way, "
      "half before and half after each run. Medians; ratio with its least and most. cpu_ms: processor time for a step, "
      "all workers together; raw: of both processes for the bytes of one worker's step. It hardly depends on how busy "
      "the machine is.";
  for (const auto& setting : kPushpullSettings) {
    result.rows.push_back(measure(setting, options));
  }
  return result;
}

}  // namespace ballast::bench
