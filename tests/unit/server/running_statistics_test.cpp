// Running variances of a network that 32 workers train: what the shard makes of them in item mode, beside rounds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "common/job/load.h"
#include "common/job/steps.h"
#include "common/numeric/philox.h"
#include "server/weights.h"

namespace ballast {
namespace {

using Floats = std::vector<float>;

constexpr Slot kSlots = 32;
constexpr std::uint32_t kWorkers = 32;
constexpr Step kSteps = 160;
constexpr Step kSettled = 80;  // what the variances began with is forgotten
constexpr std::uint32_t kChannels = 64;
constexpr float kMomentum = 0.1F;
constexpr StepFactors kFactors{0.1F, 0.1F, 1.0F, false, {}};
constexpr ChunkId kVariances = 0;

// An epoch is seven steps of 256 examples and one of 20: three of its slots have examples, 29 have none.
Job statistics_job(const std::string& mode) {
  return make_job(parse_job(
      "job: test\nmodel: {name: emulated, parameters: [{name: variance, shape: [64], group: state, momentum: 0.1}]}\n"
      "data: {name: none, train_examples: 1812}\ntraining: {mode: " +
          mode + ", slots: 32, batch: 256, max_steps: 160}\n",
      "test"));
}

// The channel's variance at that time: between 0.02 and 4, and slowly falling, as in a network that learns.
double variance_of(std::uint32_t channel, Step step) {
  return 0.02 * std::pow(200.0, channel / 63.0) * std::exp(-0.0005 * static_cast<double>(step));
}

// A slot's batch statistic: the variance of 8 examples of 16 x 16 positions, which is normal about that of the channel
// (twelve uniform draws make a normal one) with a deviation of sqrt(2 / 2048) of it.
Floats statistic_of(Step step, Slot slot) {
  const RandomStream random({7, Purpose::gradient, step, slot});
  Floats statistic(kChannels);
  for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
    double normal = -6;
    for (std::uint64_t draw = 0; draw < 12; ++draw) {
      normal += static_cast<double>(random.uniform(channel * 12 + draw));
    }
    statistic[channel] = static_cast<float>(variance_of(channel, step) * (1 + std::sqrt(2.0 / 2048) * normal));
  }
  return statistic;
}

// Running variances begin with ones.
void begin_with_ones(LaneWeights& weights) {
  weights.initialize();
  weights.restore(kVariances, 0, Floats(kChannels, 1.0F), {});
}

// After each step.
std::vector<Floats> trained_in_rounds(const Job& job) {
  LaneWeights weights(job, {kVariances});
  begin_with_ones(weights);
  std::vector<Floats> after;
  for (Step step = 0; step < kSteps; ++step) {
    const auto examples = static_cast<float>(examples_of_step(job.spec.training, job.sizes.train, step));
    Floats root(kChannels);
    for (Slot slot = 0; slot < kSlots; ++slot) {
      const auto own = static_cast<float>(examples_of_slot(job.spec.training, job.sizes.train, step, slot));
      const auto statistic = statistic_of(step, slot);
      for (std::uint32_t channel = 0; channel < kChannels && own > 0; ++channel) {
        root[channel] += own / examples * (kMomentum * (statistic[channel] - weights.newest(kVariances)[channel]));
      }
    }
    weights.apply(kVariances, step, root, kFactors);
    const auto newest = weights.newest(kVariances);
    after.emplace_back(newest.begin(), newest.end());
  }
  return after;
}

// The items in the order in which they are applied, with the version that each was computed from: 32 workers take one
// after the other, each for as long as chance has it, from half of the mean to one and a half.
struct Applied {
  ItemId item = 0;
  Version base = 0;
};
std::vector<Applied> order_of_items() {
  struct Working {
    double until = 0;
    Applied applied;
    bool operator>(const Working& other) const { return until > other.until; }
  };
  std::priority_queue<Working, std::vector<Working>, std::greater<>> working;
  ItemId next = 0;
  const RandomStream random({9, Purpose::gradient, 0, 0});
  const auto take = [&](double now) {
    working.push({now + 0.5 + static_cast<double>(random.uniform(next)), {next, next - working.size()}});
    ++next;
  };
  std::vector<Applied> order;
  for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
    take(0);
  }
  while (!working.empty()) {
    const auto [until, applied] = working.top();
    working.pop();
    order.push_back(applied);
    if (next < kSteps * kSlots) {
      take(until);
    }
  }
  return order;
}

TEST_CASE("with 32 workers running variances stay positive and near those of sync, where changes alone go negative") {
  const Job job = statistics_job("async");
  LaneWeights weights(job, {kVariances});
  begin_with_ones(weights);
  std::vector<Floats> alone = {Floats(kChannels, 1.0F)};  // by version: each item's change, added to the newest value
  const auto expected = trained_in_rounds(statistics_job("sync"));
  const auto order = order_of_items();
  float least = 1;
  float least_alone = 1;
  double furthest = 0;
  std::uint64_t staleness_sum = 0;
  for (Version version = 0; version < order.size(); ++version) {
    const auto [item, base] = order[version];
    const auto step = item / kSlots;
    const auto slot = static_cast<Slot>(item % kSlots);
    const auto statistic = statistic_of(step, slot);
    weights.apply(kVariances, version, statistic, kFactors, {step, slot, version - base});
    staleness_sum += version - base;
    auto changed = alone.back();
    const bool has_examples = examples_of_slot(job.spec.training, job.sizes.train, step, slot) > 0;
    for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
      changed[channel] += has_examples ? kMomentum * (statistic[channel] - alone[base][channel]) : 0.0F;
      const float now = weights.newest(kVariances)[channel];
      least = std::min(least, now);
      least_alone = std::min(least_alone, changed[channel]);
      if (version / kSlots >= kSettled) {
        const auto of_sync = static_cast<double>(expected[version / kSlots][channel]);
        furthest = std::max(furthest, std::abs(static_cast<double>(now) / of_sync - 1));
      }
    }
    alone.push_back(std::move(changed));
  }
  const double staleness = static_cast<double>(staleness_sum) / static_cast<double>(order.size());
  MESSAGE("mean staleness " << staleness << "; least variance " << least << ", by changes alone " << least_alone
                            << "; at most " << 100 * furthest << " % from sync's");
  CHECK(staleness > 30);
  CHECK(staleness < 32);
  CHECK(least > 0.015F);
  CHECK(furthest < 0.05);
  CHECK(least_alone < -1);
}

}  // namespace
}  // namespace ballast
