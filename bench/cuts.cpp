// What a cut costs a journaled job while a large snapshot is being written: how long its steps take.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/local_cluster.h"
#include "bench/metrics_page.h"

namespace ballast::bench {

namespace {

constexpr double kCutsSeconds = 120;
constexpr std::chrono::seconds kCutsPatience{900};

struct CutsSetting {
  const char* cuts;
  const char* durability;
};

constexpr std::array<CutsSetting, 3> kCutsSettings = {{
    {"none", "{mode: journal, fsync: never, every_steps: 1000000000}"},
    {"each step, in the ledger", "{mode: journal, fsync: never, every_steps: 1}"},
    {"each step, in memory", "{mode: snapshot, every_steps: 1}"},
}};

// Weights of 134 MB with both of adam's moments: a snapshot of 403 MB.
std::string job_of(const CutsSetting& setting) {
  return "job: bench-cuts\n"
         "model: {name: emulated, parameters: [{name: t.weight, shape: [8192, 4096]}], gradient: fixed}\n"
         "data: {name: none}\n"
         "training: {mode: async, batch: 1, slots: 1, max_steps: 1000000000, seed: 1, "
         "optimizer: {name: adam, learning_rate: 0.0001}}\n"
         "cluster: {shards: 1, lanes: 1, workers: 1, transport: ipc}\n"
         "durability: " +
         std::string(setting.durability) + "\n";
}

// Milliseconds of each step, ascending.
struct Steps {
  std::vector<double> times;
  std::uint64_t snapshots = 0;  // became complete
  Spans ledger_writes;

  [[nodiscard]] double share(double part) const {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  }
};

Steps run_once(const CutsSetting& setting, const Options& options) {
  LocalCluster cluster(job_of(setting), 1, true, options);
  cluster.warm_up();
  Steps steps;
  Step step = 0;
  Step newest = 0;
  auto since = Clock::now();
  const auto begin = Clock::now();
  cluster.watch_until(
      "steps to be timed",
      [&](const Status& status) {
        if (status.step > step) {
          const auto took = 1e3 * seconds_since(since) / static_cast<double>(status.step - step);
          if (step > 0) {
            steps.times.insert(steps.times.end(), status.step - step, took);
          }
          step = status.step;
          since = Clock::now();
        }
        steps.snapshots += status.snapshot > newest ? 1 : 0;
        newest = std::max(newest, status.snapshot);
        return seconds_since(begin) > options.seconds.value_or(kCutsSeconds) && !steps.times.empty();
      },
      kCutsPatience);
  steps.ledger_writes =
      spans_on(metrics_page(cluster.server().addresses.at("metrics")), "ballast_lead_ledger_write_seconds");
  std::ranges::sort(steps.times);
  return steps;
}

}  // namespace

Result cuts(const Options& options) {
  Result result;
  result.how =
      "1 ballast-server (1 lane) and 1 ballast-worker over ipc, mode async, one item a step, emulated model of 134 MB "
      "with adam: a snapshot is 403 MB, and with a journal each item as much as the weights. Steps are timed by the "
      "lead's status, which is asked every 10 ms: with a cut at each step, beside which a snapshot is being written "
      "(one at a time), and without any; one after the other, once each. snapshots: became complete meanwhile. ledger: "
      "from when the lead asked for a write "
      "of its ledger until that was durable, by its histogram.";
  for (const auto& setting : kCutsSettings) {
    const auto steps = run_once(setting, options);
    result.rows.push_back({{"cuts", setting.cuts},
                           {"steps", std::uint64_t(steps.times.size())},
                           {"snapshots", steps.snapshots},
                           {"median_ms", steps.share(0.5)},
                           {"p90_ms", steps.share(0.9)},
                           {"p99_ms", steps.share(0.99)},
                           {"longest_ms", steps.times.back()},
                           {"ledger_mean_ms", 1e3 * steps.ledger_writes.mean},
                           {"ledger_p99_below_ms", 1e3 * steps.ledger_writes.p99_at_most}});
  }
  return result;
}

}  // namespace ballast::bench
