#include "worker/training/fingerprint.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/arena/initial.h"
#include "common/numeric/philox.h"
#include "common/numeric/sha256.h"

namespace ballast {

namespace {

constexpr std::uint32_t kProbedExamples = 32;  // of the examples to train and validate on, and of those to test on
constexpr std::uint64_t kProbeSeed = 1;
constexpr std::size_t kDataDigits = 32;
constexpr std::size_t kArithmeticDigits = 16;

// Examples evenly spread over splits that follow one another.
void probe(const Dataset& dataset, std::initializer_list<DataSplit> splits, Sha256& hash) {
  std::uint64_t size = 0;
  for (const auto split : splits) {
    size += dataset.size(split);
  }
  std::vector<float> features(dataset.shape().features());
  const auto count = std::min<std::uint64_t>(size, kProbedExamples);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto index = count == 1 ? 0 : i * (size - 1) / (count - 1);
    auto split = splits.begin();
    while (index >= dataset.size(*split)) {
      index -= dataset.size(*split);
      ++split;
    }
    const auto label = dataset.read(*split, static_cast<std::uint32_t>(index), features);
    hash.update(std::to_string(label) + "\n").update(std::as_bytes(std::span<const float>(features)));
  }
}

struct ProbeSlot {
  std::vector<float> features;
  std::vector<std::int32_t> labels;
};

// As many examples as the model is given at once.
ProbeSlot probe_slot(const Job& job) {
  const auto& training = job.spec.training;
  const auto steps = training.mode == Mode::local ? training.local.steps : 1;
  const auto examples = std::max(training.batch / training.slots / std::max(steps, 1U), 1U);
  const RandomStream random({kProbeSeed, Purpose::probe, 0, 0});
  ProbeSlot slot;
  slot.features.resize(examples * job.shape.features());
  for (std::size_t i = 0; i < slot.features.size(); ++i) {
    slot.features[i] = random.uniform(i);
  }
  for (std::uint32_t i = 0; i < examples; ++i) {
    slot.labels.push_back(static_cast<std::int32_t>(i % std::max(job.shape.classes, 1U)));
  }
  return slot;
}

}  // namespace

std::string data_digest(const Dataset& dataset) {
  Sha256 hash;
  hash.update("ballast data 1\n").update(dataset.digest());
  probe(dataset, {DataSplit::train, DataSplit::validation}, hash);
  probe(dataset, {DataSplit::test}, hash);
  return hash.hex().substr(0, kDataDigits);
}

std::string arithmetic_digest(const Job& job, Model& model, std::span<float> weights) {
  Sha256 hash;
  if (job.spec.model.name != "emulated") {
    for (std::size_t i = 0; i < job.arena.parameters.size(); ++i) {
      const auto& extent = job.arena.extents[i];
      fill_initial(weights.subspan(extent.offset, extent.elements), job.arena.parameters[i].initial, kProbeSeed,
                   static_cast<std::uint32_t>(i), 0);
    }
    std::vector<float> gradient(job.arena.elements);
    const auto slot = probe_slot(job);
    const auto examples = static_cast<std::uint32_t>(slot.labels.size());
    model.train({0, 0, examples, kProbeSeed, 0}, {examples, slot.features, slot.labels}, WeightArena{weights, 0},
                gradient, [](std::size_t) {});
    hash.update(std::as_bytes(std::span<const float>(gradient)));
  }
  return hash.hex().substr(0, kArithmeticDigits);
}

}  // namespace ballast
