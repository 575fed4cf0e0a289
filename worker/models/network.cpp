#include "worker/models/network.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/models/check_batch.h"
#include "worker/models/empty_slot.h"

namespace ballast {
namespace {

using Clock = std::chrono::steady_clock;

// Sizes in one job: a full slot, the epoch's last ones, evaluation and its last, each at several lengths. More than
// these are not kept.
constexpr std::size_t kMostTapes = 32;

TapeSize size_of(const Batch& batch) { return {batch.count, batch.steps}; }

}  // namespace

Network::Network(std::unique_ptr<Backend> backend, Graph graph, const Arena& arena)
    : backend_(std::move(backend)), graph_(std::move(graph)), arena_(arena) {
  record({1, std::max(graph_.example.steps, 1U)});
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
  check_batch(batch, graph_.example);
  Tape& tape = tape_for(size_of(batch));
  const Pass pass{batch, true, task.seed, task.step, task.slot, task.local_step};
  const auto begin = Clock::now();
  tape.forward(pass, weights);
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
  check_batch(batch, graph_.example);
  Tape& tape = tape_for(size_of(batch));
  const Pass pass{batch};
  tape.forward(pass, weights);
  auto result = result_of(tape, batch);
  result.predictions = [&tape] { return tape.predictions(); };
  return result;
}

void Network::predict(const Batch& batch, const WeightArena& weights, std::span<float> predictions) {
  if (batch.count == 0) {
    return;
  }
  const AnyLabels any(batch, graph_.example);  // the loss wants labels; predictions do not depend on them
  const Pass pass{any.batch()};
  check_batch(pass.batch, graph_.example);
  Tape& tape = tape_for(size_of(batch));
  tape.forward(pass, weights);
  const auto computed = tape.predictions();
  if (predictions.size() != computed.size()) {
    throw std::invalid_argument("room for " + std::to_string(predictions.size()) + " predictions was given, " +
                                std::to_string(computed.size()) + " are to be written");
  }
  std::ranges::transform(computed, predictions.begin(), [](double value) { return static_cast<float>(value); });
}

BatchResult Network::result_of(const Tape& tape, const Batch& batch) {
  const LossSums sums = tape.sums();
  return {sums.loss_sum, sums.correct, batch.count};
}

Tape& Network::tape_for(const TapeSize& size) {
  for (auto known = tapes_.begin(); known != tapes_.end(); ++known) {
    if (known->first == size) {
      tapes_.splice(tapes_.begin(), tapes_, known);
      return tapes_.front().second;
    }
  }
  tapes_.emplace_front(size, record_within_memory(size));
  if (tapes_.size() > kMostTapes) {
    tapes_.pop_back();
  }
  return tapes_.front().second;
}

// Other sizes make room first; they are prepared again when they come again.
Tape Network::record_within_memory(const TapeSize& size) {
  try {
    return record(size);
  } catch (const DeviceMemoryExhausted&) {
    tapes_.clear();
  }
  try {
    return record(size);
  } catch (const DeviceMemoryExhausted& error) {
    throw std::runtime_error(std::string(error.what()) + ". The model does not fit into the device's memory with " +
                             std::to_string(size.examples) + " examples at once; with " +
                             std::to_string(most_examples(size)) +
                             " it would. A slot has training.batch / training.slots examples: more slots are smaller");
  }
}

// By trying: what layers need beside their activations is known to the device's libraries alone.
std::uint32_t Network::most_examples(TapeSize too_many) {
  std::uint32_t fits = 0;
  while (too_many.examples - fits > 1) {
    const std::uint32_t middle = fits + (too_many.examples - fits) / 2;
    try {
      record({middle, too_many.steps});
      fits = middle;
    } catch (const DeviceMemoryExhausted&) {
      too_many.examples = middle;
    }
  }
  return fits;
}

}  // namespace ballast
