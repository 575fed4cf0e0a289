// Items a second in async and in sync, where all workers are alike: what it costs to be told each item.
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/local_cluster.h"
#include "bench/spread.h"

namespace ballast::bench {

namespace {

constexpr std::uint32_t kMostWorkers = 4;
constexpr std::uint64_t kPaceSlots = 8;

std::string emulated(const std::string& mode, int compute_ms, std::uint32_t workers) {
  const auto count = std::to_string(workers);
  return "job: bench-pace\n"
         "model: {name: emulated, compute_ms: " +
         std::to_string(compute_ms) +
         ", gradient: fixed, parameters: [{name: first.weight, shape: [60, 500]}, {name: first.bias, shape: [60]}, "
         "{name: second.weight, shape: [30, 60]}, {name: second.bias, shape: [30]}]}\n"
         "data: {name: none, train_examples: 1000000}\n"
         "training: {" +
         "mode: " + mode +
         ", batch: 64, slots: 8, max_steps: 1000000000, epochs: 1000000, seed: 1, "
         "optimizer: {name: sgd, learning_rate: 0.0001}}\n"
         "cluster: {shards: 1, lanes: 1, workers: " +
         count + ", start_workers: " + count + ", transport: ipc}\n" + "durability: {mode: final}\n";
}

double items_per_second(const std::string& mode, int compute_ms, std::uint32_t workers, const Options& options) {
  LocalCluster cluster(emulated(mode, compute_ms, workers), workers, false, options);
  cluster.warm_up();
  const auto progressed = cluster.measure(options.seconds.value_or(2));
  return static_cast<double>(progressed.steps * kPaceSlots) / progressed.seconds;
}

Row pace_row(int compute_ms, std::uint32_t workers, const Options& options) {
  std::vector<double> rates;
  std::vector<double> ratios;
  std::vector<double> sync_rates;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    sync_rates.push_back(items_per_second("sync", compute_ms, workers, options));
    rates.push_back(items_per_second("async", compute_ms, workers, options));
    ratios.push_back(rates.back() / sync_rates.back());
  }
  return {{"compute_ms", std::uint64_t(compute_ms)}, {"workers", std::uint64_t{workers}},
          {"items_s", spread_of(rates).median},      {"sync_items_s", spread_of(sync_rates).median},
          {"ratio", spread_of(ratios).median},       {"ratio_min", spread_of(ratios).least},
          {"ratio_max", spread_of(ratios).most}};
}

}  // namespace

Result pace(const Options& options) {
  Result result;
  result.how =
      "The emulated model (31,890 floats, so that few bytes move), one ballast-server over ipc, 8 slots a step, each "
      "of which takes so many "
      "ms of "
      "waiting. Items (slots) a second in async, and in sync right before. No snapshots and no evaluations. Medians, "
      "the "
      "ratio with its least and most.";
  for (const int compute_ms : {0, 1, 5}) {
    for (std::uint32_t workers = 1; workers <= kMostWorkers; ++workers) {
      result.rows.push_back(pace_row(compute_ms, workers, options));
    }
  }
  return result;
}

}  // namespace ballast::bench
