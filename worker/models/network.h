// A model that is a network, computed on a backend.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include "common/network/graph.h"
#include "worker/compute/backend.h"
#include "worker/compute/tape.h"
#include "worker/models/model.h"

namespace ballast {

class Network : public Model {
 public:
  // Prepares the network for one example at once, so that what does not fit is known now. Batches that the device has
  // no room for show when they come: std::runtime_error then names the largest that it has room for.
  Network(std::unique_ptr<Backend> backend, Graph graph, const Arena& arena);

  BatchResult train(const SlotTask& task, const Batch& batch, const WeightArena& weights, std::span<float> gradients,
                    const GradientReady& ready) override;
  BatchResult evaluate(const Batch& batch, const WeightArena& weights) override;
  void predict(const Batch& batch, const WeightArena& weights, std::span<float> predictions) override;
  [[nodiscard]] ComputeTimes last_times() const override { return times_; }
  void pin(std::span<float> arena) override { backend_->pin(arena); }

 private:
  Tape& tape_for(const TapeSize& size);
  Tape record_within_memory(const TapeSize& size);
  std::uint32_t most_examples(TapeSize too_many);
  Tape record(const TapeSize& size) { return {*backend_, graph_, arena_, size}; }
  static BatchResult result_of(const Tape& tape, const Batch& batch);

  std::unique_ptr<Backend> backend_;
  Graph graph_;
  const Arena& arena_;
  std::list<std::pair<TapeSize, Tape>> tapes_;  // by size, the most recently used first
  ComputeTimes times_;
};

}  // namespace ballast
