// What snapshots cost while training goes on.
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/spread.h"

namespace ballast::bench {

namespace {

constexpr double kSnapshotsSeconds = 40;

struct SnapshotsSetting {
  int compute_ms;
  bool large;  // 403 MB of weights instead of 102
  unsigned every_steps;
};

constexpr SnapshotsSetting kSnapshotsSettings[] = {{0, false, 100}, {50, false, 100}, {0, true, 40}};

std::string model_of(const SnapshotsSetting& setting) {
  std::string model = "model: {name: emulated, gradient: fixed, compute_ms: " + std::to_string(setting.compute_ms);
  if (!setting.large) {
    return model + ", preset: resnet50}\n";
  }
  model += ", parameters: [";
  for (int i = 0; i < 24; ++i) {
    model += "{name: t" + std::to_string(i) + ".weight, shape: [2048, 2048]}" + (i < 23 ? ", " : "]}\n");
  }
  return model;
}

std::string job_of(const SnapshotsSetting& setting, bool snapshots) {
  return "job: bench-snapshots\n" + model_of(setting) +
         "data: {name: none}\n"
         "training: {batch: 64, slots: 2, max_steps: 1000000000, seed: 1, "
         "optimizer: {name: sgd, learning_rate: 0.0001, momentum: 0.9}}\n"
         "cluster: {shards: 1, lanes: 1, workers: 2, start_workers: 2, transport: ipc}\n"
         "durability: " +
         (snapshots ? "{every_steps: " + std::to_string(setting.every_steps) + "}\n" : "{mode: final}\n");
}

struct Pace {
  double steps_per_second = 0;
  double longest_gap = 0;  // seconds between two steps
  double snapshots = 0;
};

Pace run_once(const SnapshotsSetting& setting, bool snapshots, const Options& options) {
  LocalCluster cluster(job_of(setting, snapshots), 2, false, options);
  cluster.warm_up();
  const auto progressed = cluster.measure(options.seconds.value_or(kSnapshotsSeconds));
  return {static_cast<double>(progressed.steps) / progressed.seconds, progressed.longest_gap_seconds,
          static_cast<double>(progressed.snapshots)};
}

Row measure(const SnapshotsSetting& setting, const Options& options) {
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> losses;
  std::vector<double> gaps;
  std::vector<double> plain_gaps;
  double snapshots = 0;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    // Half of the baseline before and half after would double the time: the order alternates instead.
    const bool first = i % 2 == 0;
    const auto one = run_once(setting, first, options);
    const auto other = run_once(setting, !first, options);
    const auto& taken = first ? one : other;
    const auto& plain = first ? other : one;
    with.push_back(taken.steps_per_second);
    without.push_back(plain.steps_per_second);
    losses.push_back(100 * (1 - taken.steps_per_second / plain.steps_per_second));
    gaps.push_back(1e3 * taken.longest_gap);
    plain_gaps.push_back(1e3 * plain.longest_gap);
    snapshots += taken.snapshots;
  }
  const auto loss = spread_of(losses);
  return {{"snapshot_mb", std::uint64_t{setting.large ? 806U : 204U}},
          {"every_steps", std::uint64_t{setting.every_steps}},
          {"compute_ms", std::uint64_t(setting.compute_ms)},
          {"steps_s", spread_of(with).median},
          {"steps_s_without", spread_of(without).median},
          {"loss_percent", loss.median},
          {"loss_min", loss.least},
          {"loss_max", loss.most},
          {"longest_step_ms", spread_of(gaps).most},
          {"longest_step_ms_without", spread_of(plain_gaps).most},
          {"snapshots", snapshots}};
}

}  // namespace

Result snapshots(const Options& options) {
  Result result;
  result.how =
      "1 ballast-server (1 lane) and 2 ballast-workers over ipc, emulated model: ResNet-50's 102 MB of weights, or 403 "
      "MB "
      "in 24 tensors, and as much momentum, written every so many steps with fsync, against the same job that writes "
      "nothing until its end (durability.mode: final), runs in turn. Steps from the lead's status after 5 steps of "
      "warm-up; longest_step_ms: the longest time between two changes of the step in any run, asked every 10 ms. "
      "compute_ms: emulated compute of a slot, two slots a step. Medians; loss with its least and most.";
  for (const auto& setting : kSnapshotsSettings) {
    result.rows.push_back(measure(setting, options));
  }
  return result;
}

}  // namespace ballast::bench
