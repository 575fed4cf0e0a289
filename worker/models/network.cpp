#include "worker/models/network.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/models/empty_slot.h"

namespace ballast {
namespace {

using Clock = std::chrono::steady_clock;

// Batch sizes in one job: a full slot, the epoch's last ones, evaluation and its last. More than these are not kept.
constexpr std::size_t kMostTapes = 16;

}  // namespace

Network::Network(std::unique_ptr<Backend> backend, const ExampleShape& shape, const Arena& arena, Record record)
    : backend_(std::move(backend)), shape_(shape), arena_(arena), record_(std::move(record)) {
  record_for(1);
}

BatchResult Network::train(const SlotTask& task, const Batch& batch, const WeightArena& weights,
                           std::span<float> gradients, const GradientReady& ready) {
  times_ = {};
  if (batch.count == 0) {
    write_empty_slot(arena_, gradients, ready);
    return {};
  }
  if (task.step_examples < batch.count) {
    throw std::invalid_argument("slot " + std::to_string(task.slot) + " of step " + std::to_string(task.step) +
                                " holds " + std::to_string(batch.count) + " examples, but its whole step only " +
                                std::to_string(task.step_examples));
  }
  check(batch);
  Tape& tape = tape_for(batch.count);
  const auto begin = Clock::now();
  tape.forward(batch.features, batch.labels, weights);
  const auto middle = Clock::now();
  tape.backward(1.0F / static_cast<float>(task.step_examples), gradients, ready);
  const BatchResult result = result_of(tape, batch);
  times_ = compute_times(begin, middle, Clock::now());
  return result;
}

BatchResult Network::evaluate(const Batch& batch, const WeightArena& weights) {
  if (batch.count == 0) {
    return {};
  }
  check(batch);
  Tape& tape = tape_for(batch.count);
  tape.forward(batch.features, batch.labels, weights);
  return result_of(tape, batch);
}

void Network::predict(const Batch& batch, const WeightArena& weights, std::span<float> probabilities) {
  if (batch.count == 0) {
    return;
  }
  const std::vector<std::int32_t> any(batch.count);  // the loss wants labels; probabilities do not depend on them
  const Batch unlabelled{batch.count, batch.features, any};
  check(unlabelled);
  Tape& tape = tape_for(batch.count);
  tape.forward(unlabelled.features, unlabelled.labels, weights);
  const auto computed = tape.probabilities();
  if (probabilities.size() != computed.size()) {
    throw std::invalid_argument("room for " + std::to_string(probabilities.size()) + " probabilities was given, " +
                                std::to_string(computed.size()) + " are to be written");
  }
  std::ranges::transform(computed, probabilities.begin(), [](double value) { return static_cast<float>(value); });
}

BatchResult Network::result_of(const Tape& tape, const Batch& batch) {
  const LossSums sums = tape.sums();
  return {sums.loss_sum, sums.correct, batch.count};
}

void Network::check(const Batch& batch) const {
  if (batch.features.size() != batch.count * shape_.features() || batch.labels.size() != batch.count) {
    throw std::invalid_argument("a batch of " + std::to_string(batch.count) + " examples brings " +
                                std::to_string(batch.features.size()) + " floats and " +
                                std::to_string(batch.labels.size()) + " labels; " + std::to_string(shape_.features()) +
                                " floats and one label each are needed");
  }
}

Tape& Network::tape_for(std::uint32_t examples) {
  for (auto known = tapes_.begin(); known != tapes_.end(); ++known) {
    if (known->first == examples) {
      tapes_.splice(tapes_.begin(), tapes_, known);
      return tapes_.front().second;
    }
  }
  tapes_.emplace_front(examples, record_within_memory(examples));
  if (tapes_.size() > kMostTapes) {
    tapes_.pop_back();
  }
  return tapes_.front().second;
}

// Other batch sizes make room first; they are recorded again when they come again.
Tape Network::record_within_memory(std::uint32_t examples) {
  try {
    return record_for(examples);
  } catch (const DeviceMemoryExhausted&) {
    tapes_.clear();
  }
  try {
    return record_for(examples);
  } catch (const DeviceMemoryExhausted& error) {
    throw std::runtime_error(std::string(error.what()) + ". The model does not fit into the device's memory with " +
                             std::to_string(examples) + " examples at once; with " +
                             std::to_string(most_examples(examples)) +
                             " it would. A slot has training.batch / training.slots examples: more slots are smaller");
  }
}

// By trying: what layers need beside their activations is known to the device's libraries alone.
std::uint32_t Network::most_examples(std::uint32_t too_many) {
  std::uint32_t fits = 0;
  while (too_many - fits > 1) {
    const std::uint32_t middle = fits + (too_many - fits) / 2;
    try {
      record_for(middle);
      fits = middle;
    } catch (const DeviceMemoryExhausted&) {
      too_many = middle;
    }
  }
  return fits;
}

Tape Network::record_for(std::uint32_t examples) {
  Tape tape(*backend_, arena_, {examples, shape_.channels, shape_.height, shape_.width});
  record_(tape);
  tape.finish();
  return tape;
}

}  // namespace ballast
