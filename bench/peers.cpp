// Ballast beside ps-lite, in turns: a rate of another day or machine says nothing.
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/ps_lite.h"
#include "bench/spread.h"
#include "bench/traffic.h"

namespace ballast::bench {

namespace {

constexpr double kPeersSeconds = 4;

struct PeersSetting {
  const char* transport;
  bool whole_mebibytes;
  bool equal;
};

constexpr std::array<PeersSetting, 6> kPeersSettings = {{{"tcp", false, false},
                                                         {"tcp", false, true},
                                                         {"ipc", false, false},
                                                         {"ipc", false, true},
                                                         {"tcp", true, false},
                                                         {"tcp", true, true}}};

struct PeersSpeed {
  double gigabytes_per_second = 0;
  double worker_cpu_ms = 0;
};

PeersSpeed ours(const PeersSetting& setting, double seconds, const Options& options) {
  const Traffic traffic{.transport = setting.transport, .whole_mebibytes = setting.whole_mebibytes};
  LocalCluster cluster(job_of(traffic), 1, false, options);
  cluster.warm_up();
  const auto progressed = cluster.measure(seconds);
  const auto steps = static_cast<double>(progressed.steps);
  return {static_cast<double>(bytes_of(traffic)) * steps / progressed.seconds / 1e9,
          1e3 * progressed.worker_cpu_seconds / steps};
}

PeersSpeed theirs(const PeersSetting& setting, double seconds, const Options& options) {
  const auto speed = run_ps_lite(
      options.ps_lite, {setting.transport, setting.whole_mebibytes ? "1048576" : "resnet", setting.equal}, seconds);
  return {speed.gigabytes_per_second, speed.worker_cpu_ms};
}

Row measure(const PeersSetting& setting, const Options& options) {
  const double seconds = options.seconds.value_or(kPeersSeconds);
  std::array<std::vector<double>, 2> rates;
  std::array<std::vector<double>, 2> cpu;
  std::vector<double> ratios;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    std::array<PeersSpeed, 2> pair;
    for (const unsigned turn : {0U, 1U}) {
      const unsigned which = (turn + i) % 2;  // who goes first alternates
      pair[which] = which == 0 ? ours(setting, seconds, options) : theirs(setting, seconds, options);
    }
    for (const unsigned which : {0U, 1U}) {
      rates[which].push_back(pair[which].gigabytes_per_second);
      cpu[which].push_back(pair[which].worker_cpu_ms);
    }
    ratios.push_back(pair[0].gigabytes_per_second / pair[1].gigabytes_per_second);
  }
  const auto ratio = spread_of(ratios);
  return {{"tensors", setting.whole_mebibytes ? "97 of 1 MiB" : "161 of ResNet-50"},
          {"transport", setting.transport},
          {"ps_lite_does", setting.equal ? "SGD with momentum, replies that cannot tear" : "sums, replies may tear"},
          {"ballast_gb_s", spread_of(rates[0]).median},
          {"ps_lite_gb_s", spread_of(rates[1]).median},
          {"ratio", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"ballast_worker_cpu_ms", spread_of(cpu[0]).median},
          {"ps_lite_worker_cpu_ms", spread_of(cpu[1]).median}};
}

}  // namespace

Result peers(const Options& options) {
  if (options.ps_lite.empty()) {
    throw std::runtime_error("peers: say --ps-lite BENCH, the program that was built with ps-lite");
  }
  Result result;
  result.how =
      "One server and one worker of each, in turns, who goes first alternating. Ballast: real processes, emulated "
      "model, "
      "fixed gradient, no compute time; the server looks for values that are not finite, applies SGD with momentum and "
      "serves whole versions, in chunks of at most 1 MiB. ps-lite: one key for each tensor, all pushes and pulls of a "
      "round at once, then a wait for all; what its server does stands in the table. GB/s: bytes of the tensors x "
      "rounds "
      "/ seconds, one way counted though as many come back. Medians; the ratio is that of each pair, with its least "
      "and "
      "most. worker_cpu_ms: processor time of a round.";
  for (const auto& setting : kPeersSettings) {
    result.rows.push_back(measure(setting, options));
  }
  return result;
}

}  // namespace ballast::bench
