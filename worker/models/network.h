// A model that is a network recorded on a tape.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <utility>

#include "worker/compute/backend.h"
#include "worker/compute/tape.h"
#include "worker/models/model.h"

namespace ballast {

// Writes the network on a fresh tape, from tape.input() to the loss.
using Record = std::function<void(Tape&)>;

class Network : public Model {
 public:
  // Records the network for one example at once, so that what does not fit is known now. Batches that the device has no
  // room for show when they come: std::runtime_error then names the largest that it has room for.
  Network(std::unique_ptr<Backend> backend, const ExampleShape& shape, const Arena& arena, Record record);

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override;
  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override;
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> probabilities) override;
  [[nodiscard]] ComputeTimes last_times() const override { return times_; }
  void pin(std::span<float> arena) override { backend_->pin(arena); }

 private:
  Tape& tape_for(std::uint32_t examples);
  Tape record_for(std::uint32_t examples);
  Tape record_within_memory(std::uint32_t examples);
  std::uint32_t most_examples(std::uint32_t too_many);
  static BatchResult result_of(const Tape& tape, const Batch& batch);
  void check(const Batch& batch) const;

  std::unique_ptr<Backend> backend_;
  ExampleShape shape_;
  const Arena& arena_;
  Record record_;
  std::list<std::pair<std::uint32_t, Tape>> tapes_;  // by batch size, the most recently used first
  ComputeTimes times_;
};

}  // namespace ballast
