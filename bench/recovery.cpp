// How long a job stands still when a server is killed.
#include <csignal>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/spread.h"

namespace ballast::bench {

namespace {

constexpr Step kEvery = 20;

// 102 MB of weights and as much of momentum.
constexpr const char* kRecoveryJob =
    "job: bench-recovery\n"
    "model: {name: emulated, preset: resnet50, compute_ms: 20, gradient: fixed}\n"
    "data: {name: none}\n"
    "training: {batch: 64, slots: 2, max_steps: 1000000000, seed: 1, "
    "optimizer: {name: sgd, learning_rate: 0.0001, momentum: 0.9}}\n"
    "cluster: {shards: 2, lanes: 1, workers: 2, start_workers: 2, transport: ipc}\n"
    "durability: {every_steps: 20}\n";

Row row(const std::string& killed, const std::vector<Recovered>& all) {
  std::vector<double> step;
  std::vector<double> timeline;
  double steps_again = 0;
  for (const auto& one : all) {
    timeline.push_back(one.seconds_to_training);
    step.push_back(one.seconds_to_step);
    steps_again += static_cast<double>(one.rolled_back_steps) / static_cast<double>(all.size());
  }
  return {{"killed", killed},
          {"seconds_to_training", spread_of(timeline).median},
          {"seconds_to_first_step", spread_of(step).median},
          {"least", spread_of(step).least},
          {"most", spread_of(step).most},
          {"steps_trained_again", steps_again},
          {"times", std::uint64_t{all.size()}}};
}

}  // namespace

Result recovery(const Options& options) {
  LocalCluster cluster(kRecoveryJob, 2, false, options);
  const auto reached = [](const Status& status, std::uint64_t step) { return status.snapshot >= step; };
  std::vector<std::vector<Recovered>> recovered(2);
  Step wanted = kEvery;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    for (std::uint32_t shard : {1U, 0U}) {
      cluster.wait_for("a snapshot of step " + std::to_string(wanted), reached, wanted);
      cluster.rest(options.seconds.value_or(1));
      recovered[shard].push_back(cluster.kill_and_restart(shard));
      wanted = recovered[shard].back().base + kEvery;
    }
  }
  Result result;
  result.how =
      "2 ballast-servers and 2 ballast-workers over ipc, emulated model, preset resnet50 (102 MB of weights and as "
      "much "
      "momentum, 20 ms of emulated compute for a slot), a snapshot every 20 steps with fsync. A server is killed by "
      "SIGKILL and started again after the supervisor's " +
      std::to_string(RestartPolicy::kFirstDelay.count()) +
      " ms. From the kill until the lead says that the new timeline trains, and until it says that the first step "
      "after "
      "the snapshot is applied, which bounds the first accepted contribution from above; asked every 10 ms. Median, "
      "least and most.";
  result.rows.push_back(row("a shard", recovered[1]));
  result.rows.push_back(row("shard 0 with the lead", recovered[0]));
  return result;
}

}  // namespace ballast::bench
