// What a journal costs a job: the disk, where the journal's own bench stays in the system's memory.
#include <array>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/spread.h"

namespace ballast::bench {

namespace {

constexpr double kJournaledSeconds = 20;

struct JournaledSetting {
  const char* durability;
  int compute_ms;
};

constexpr std::array<JournaledSetting, 4> kJournaledSettings = {
    {{"always", 0}, {"interval", 0}, {"never", 0}, {"interval", 50}}};

std::string job_of(const JournaledSetting& setting, bool journal) {
  return "job: bench-journaled\n"
         "model: {name: emulated, preset: resnet50, gradient: fixed, compute_ms: " +
         std::to_string(setting.compute_ms) +
         "}\n"
         "data: {name: none}\n"
         "training: {mode: async, batch: 64, slots: 2, max_steps: 1000000000, seed: 1, "
         "optimizer: {name: sgd, learning_rate: 0.0001, momentum: 0.9}}\n"
         "cluster: {shards: 1, lanes: 1, workers: 2, start_workers: 2, transport: ipc}\n"
         "durability: " +
         (journal ? "{mode: journal, fsync: " + std::string(setting.durability) + ", every_steps: 100}\n"
                  : std::string("{mode: snapshot, every_steps: 100}\n"));
}

Progressed run_once(const JournaledSetting& setting, bool journal, const Options& options) {
  LocalCluster cluster(job_of(setting, journal), 2, false, options);
  cluster.warm_up();
  return cluster.measure(options.seconds.value_or(kJournaledSeconds));
}

Row measure(const JournaledSetting& setting, const Options& options) {
  std::array<std::vector<double>, 2> rates;  // without, and with
  std::array<std::vector<double>, 2> cpu;
  std::vector<double> ratios;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    for (const unsigned turn : {0U, 1U}) {
      const unsigned which = (turn + i) % 2;
      const auto progressed = run_once(setting, which == 1, options);
      const auto steps = static_cast<double>(progressed.steps);
      rates[which].push_back(2 * steps / progressed.seconds);
      cpu[which].push_back(1e3 * progressed.server_cpu_seconds / (2 * steps));
    }
    ratios.push_back(rates[1].back() / rates[0].back());
  }
  const auto ratio = spread_of(ratios);
  return {{"fsync", setting.durability},
          {"compute_ms", std::uint64_t(setting.compute_ms)},
          {"items_s", spread_of(rates[1]).median},
          {"items_s_without", spread_of(rates[0]).median},
          {"ratio", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"server_cpu_ms", spread_of(cpu[1]).median},
          {"server_cpu_ms_without", spread_of(cpu[0]).median}};
}

}  // namespace

Result journaled(const Options& options) {
  Result result;
  result.how =
      "1 ballast-server (1 lane) and 2 ballast-workers over ipc, mode async, emulated model of ResNet-50's size, fixed "
      "gradient: each item is 102 MB for the journal. Against the same job without one (durability.mode: snapshot); "
      "both "
      "write a snapshot every 100 steps of 2 items. On the disk of temporary files ($TMPDIR), for longer than the "
      "system's memory takes the journal without the disk. Runs in turns, medians; the ratio with its least and most. "
      "server_cpu_ms: processor time of the server for an item.";
  for (const auto& setting : kJournaledSettings) {
    result.rows.push_back(measure(setting, options));
  }
  return result;
}

}  // namespace ballast::bench
