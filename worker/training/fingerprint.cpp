#include "worker/training/fingerprint.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/arena/initial.h"
#include "common/numeric/sha256.h"
#include "worker/data/examples.h"
#include "worker/training/probe_slot.h"

namespace ballast {

namespace {

constexpr std::uint32_t kProbedExamples = 32;  // of the examples to train and validate on, and of those to test on
constexpr std::uint64_t kProbeSeed = 1;
constexpr std::size_t kDataDigits = 32;
constexpr std::size_t kArithmeticDigits = 16;

template <typename Value>
void add(std::span<const Value> values, Sha256& hash) {
  hash.update(std::as_bytes(values));
}

void add_example(const SlotExamples& one, Labels labels, Sha256& hash) {
  if (labels == Labels::classes) {
    hash.update(std::to_string(one.labels[0]) + "\n");
  } else {
    add(std::span<const std::int32_t>(one.labels), hash);
    add(std::span<const float>(one.targets), hash);
  }
  add(std::span<const float>(one.features), hash);
  add(std::span<const std::uint32_t>(one.lengths), hash);
  add(std::span<const std::int32_t>(one.tokens), hash);
  add(std::span<const std::int32_t>(one.children), hash);
}

// Examples evenly spread over splits that follow one another.
void probe(const Dataset& dataset, std::initializer_list<DataSplit> splits, Sha256& hash) {
  std::uint64_t size = 0;
  for (const auto split : splits) {
    size += dataset.size(split);
  }
  const auto count = std::min<std::uint64_t>(size, kProbedExamples);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto index = count == 1 ? 0 : i * (size - 1) / (count - 1);
    auto split = splits.begin();
    while (index >= dataset.size(*split)) {
      index -= dataset.size(*split);
      ++split;
    }
    add_example(read_examples(dataset, *split, static_cast<std::uint32_t>(index), 1), dataset.shape().labels, hash);
  }
}

// As many as the model is given.
std::uint32_t examples_at_once(const TrainingSpec& training) {
  const auto steps = training.mode == Mode::local ? training.local.steps : 1;
  return std::max(training.batch / training.slots / std::max(steps, 1U), 1U);
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
    const auto slot = probe_slot(job.shape, examples_at_once(job.spec.training), kProbeSeed);
    model.train({0, 0, slot.count, kProbeSeed, 0}, slot.batch(), WeightArena{weights, 0}, gradient, [](std::size_t) {});
    hash.update(std::as_bytes(std::span<const float>(gradient)));
  }
  return hash.hex().substr(0, kArithmeticDigits);
}

}  // namespace ballast
