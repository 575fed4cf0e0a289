// One of four workers four times slower than the others: what each mode makes of it, in time, loss and staleness.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/local_cluster.h"
#include "bench/spread.h"

namespace ballast::bench {

namespace {

constexpr std::uint32_t kStaleWorkers = 4;
constexpr std::uint64_t kStaleSlots = 8;
constexpr std::uint64_t kItems = 4000;
constexpr double kLoss = 0.5;
constexpr std::chrono::seconds kStalePatience{300};
constexpr const char* kDelays = "worker-0:20,*:5";

struct Kind {
  std::string mode;
  std::uint32_t bound = 0;

  [[nodiscard]] std::string name() const { return bound == 0 ? mode : mode + " " + std::to_string(bound); }
  [[nodiscard]] std::string text() const {
    return "mode: " + mode + (bound == 0 ? "" : ", staleness: {bound: " + std::to_string(bound) + "}");
  }
};

// No snapshots, and no evaluation before the end: nothing but the modes' own rules makes anybody wait.
constexpr const char* kNoCuts = "durability: {mode: final}\n";

// A real network. In sync a step is one update by the mean of 8 slots, in the others 8 updates by one slot each: the
// learning rate of a slot's update is an eighth of a step's, so that as many examples move the weights as far.
std::string learning(const Kind& kind) {
  const std::string rate = kind.mode == "sync" ? "0.2" : "0.025";
  return "job: bench-stale\n"
         "model: {name: mlp, hidden: [48]}\n"
         "data: {name: glyphs, train_examples: 20000, test_examples: 100}\n"
         "training: {" +
         kind.text() +
         ", batch: 64, slots: 8, max_steps: 1000000, epochs: 100000, evaluate_every_epochs: 100000, seed: 1, "
         "optimizer: {name: sgd, learning_rate: " +
         rate +
         "}}\n"
         "cluster: {shards: 2, lanes: 1, workers: 4, start_workers: 4, transport: ipc}\n" +
         kNoCuts;
}

double mean_staleness(const StalenessCounts& staleness) {
  const auto count = std::accumulate(staleness.counts.begin(), staleness.counts.end(), std::uint64_t{0});
  return count == 0 ? 0 : static_cast<double>(staleness.sum) / static_cast<double>(count);
}

// The environment's word to the workers, for as long as a cluster is started.
class Delays {
 public:
  explicit Delays(const char* text) { setenv("BALLAST_DELAY", text, 1); }
  ~Delays() { unsetenv("BALLAST_DELAY"); }
  Delays(const Delays&) = delete;
  Delays& operator=(const Delays&) = delete;
};

struct Raced {
  double seconds_to_items = 0;
  double seconds_to_loss = 0;
  double loss_at_items = 0;
  StalenessCounts staleness;
};

// Steps as whole steps count: up to the first item that is missing.
Raced race(const Kind& kind, const Options& options) {
  const Delays delays(kDelays);
  LocalCluster cluster(learning(kind), kStaleWorkers, false, options);
  cluster.wait_for_step(1);
  const auto begin = Clock::now();
  Raced raced;
  const auto look = [&](const Status& status) {
    if (raced.seconds_to_loss == 0 && status.step > 50 && status.recent_loss <= kLoss) {
      raced.seconds_to_loss = seconds_since(begin);
    }
    if (raced.seconds_to_items == 0 && status.step * kStaleSlots >= kItems) {
      raced.seconds_to_items = seconds_since(begin);
      raced.loss_at_items = status.recent_loss;
    }
    raced.staleness = status.staleness;
    return raced.seconds_to_loss > 0 && raced.seconds_to_items > 0;
  };
  cluster.watch_until("so many items and so low a loss", look, kStalePatience);
  return raced;
}

Row race_row(const Kind& kind, const Options& options) {
  std::vector<double> items;
  std::vector<double> losses;
  std::vector<double> at_items;
  double staleness = 0;
  std::uint64_t largest = 0;
  std::uint64_t expired = 0;
  for (unsigned i = 0; i < options.repetitions; ++i) {
    const auto raced = race(kind, options);
    items.push_back(raced.seconds_to_items);
    losses.push_back(raced.seconds_to_loss);
    at_items.push_back(raced.loss_at_items);
    staleness += mean_staleness(raced.staleness) / options.repetitions;
    largest = std::max(largest, raced.staleness.largest);
    expired += raced.staleness.expired;
  }
  return {{"mode", kind.name()},
          {"items_s", static_cast<double>(kItems) / spread_of(items).median},
          {"seconds_to_items", spread_of(items).median},
          {"least", spread_of(items).least},
          {"most", spread_of(items).most},
          {"loss_then", spread_of(at_items).median},
          {"seconds_to_loss", spread_of(losses).median},
          {"staleness", staleness},
          {"largest", largest},
          {"expired", expired}};
}

}  // namespace

Result stale(const Options& options) {
  Result result;
  result.how =
      "4 ballast-workers of which one waits 20 ms before each slot and the others 5 ms, 2 ballast-servers "
      "over ipc, a perceptron on glyphs, batch 64 in 8 slots, from the first whole step on: until 4,000 items (slots; "
      "500 steps) are applied without a gap, and until the training loss, mean of the last 50 steps, is 0.5. "
      "Staleness is counted at the shards, over the whole run: mean and largest. No snapshots and no evaluations. "
      "Medians.";
  for (const Kind& kind : std::vector<Kind>{
           {"sync"}, {"async"}, {"ssp", 2}, {"ssp", 4}, {"ssp", 8}, {"ssp", 16}, {"ssp", 32}, {"ssp", 64}}) {
    result.rows.push_back(race_row(kind, options));
  }
  return result;
}

}  // namespace ballast::bench
