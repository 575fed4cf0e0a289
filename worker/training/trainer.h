// What computes: slots into gradient sums, examples of an evaluation into its result.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/job/job.h"
#include "common/trace/trace_ring.h"
#include "protocol/metrics.h"
#include "protocol/worker/worker.h"
#include "worker/data/pipeline.h"
#include "worker/models/model.h"
#include "worker/training/contributions.h"
#include "worker/training/delay.h"
#include "worker/training/gradient_norms.h"
#include "worker/training/gradient_sums.h"

namespace ballast {

// The payload name of a gradient chunk in an arena of the pool, and the arena of such a name.
inline PayloadId gradient_payload(const Arena& arena, std::uint32_t number, ChunkId chunk) {
  return 1 + std::uint64_t{number} * arena.chunks.size() + chunk;
}
inline std::uint32_t arena_of_gradient(const Arena& arena, PayloadId payload) {
  return static_cast<std::uint32_t>((payload - 1) / arena.chunks.size());
}

struct TrainingTask {
  Step step = 0;
  std::vector<SlotRange> ranges;
};

// One thread, the one that computes, but for what says otherwise. Everything takes long, and ends at the next slot once
// the pool is closed. `post` is called as gradients become ready.
class Trainer {
 public:
  using Post = std::function<void(worker::Event)>;

  // `job`, `pool` and `norms` outlive it. `delays`: on demand. `trace`: of the slots and of their reading.
  // `norms`: of what slots contribute; null: nobody asks.
  Trainer(const Job& job, std::string data_path, MakeBackend make_backend, GradientPool& pool, Post post,
          PlannedDelays delays, std::shared_ptr<TraceRing> trace, GradientNorms* norms);

  // Opens the data, builds the model and measures the fingerprint, in that order. `weights` stay where they are.
  worker::Prepared prepare(std::span<float> weights);
  // The same with data that are open already, of the job's sizes and shape.
  worker::Prepared prepare(std::span<float> weights, std::unique_ptr<Dataset> dataset);
  // Once that is done: examples to read ahead. From any thread.
  void prefetch(Step step, const std::vector<SlotRange>& ranges);
  // Examples of the data that were left out or replaced, as of the last slot or evaluation. From any thread.
  [[nodiscard]] std::uint64_t corrupt_examples() const { return corrupt_examples_.load(std::memory_order_relaxed); }
  // Examples of the slots that were computed. From any thread.
  [[nodiscard]] std::uint64_t examples() const { return examples_.load(std::memory_order_relaxed); }
  // These slots are in hand: train() computes them. From any thread, while nothing is trained.
  void begin(const TrainingTask& task);
  // The slots of the step in hand are others, as SlotSums has it; nothing if it is not in hand. From any thread.
  void become(const TrainingTask& task);
  void train(const WeightArena& weights);
  void evaluate(const Evaluation& evaluation, const WeightArena& weights);
  // Nothing is computed any more: lets the backend go.
  void end() { model_.reset(); }

 private:
  void make_plain_model(std::span<float> weights);
  std::string fingerprint(std::span<float> weights);
  std::pair<Step, std::shared_ptr<SlotSums>> in_hand();
  void train_slot(Step step, Slot slot, SlotSums& sums, const WeightArena& weights, PhaseTimes& phases);

  struct Training {
    std::mutex mutex;
    Step step = 0;
    std::shared_ptr<SlotSums> sums;  // null: nothing is being trained
  };

  const Job& job_;
  std::string data_path_;
  MakeBackend make_backend_;
  GradientPool& pool_;
  Post post_;
  PlannedDelays delays_;
  std::shared_ptr<TraceRing> trace_;
  GradientNorms* norms_;
  ChunkCountdown countdown_;
  Training training_;
  bool each_slot_is_update_;  // by itself: in item mode
  MetricRules metrics_;
  std::atomic<std::uint64_t> corrupt_examples_ = 0;
  std::atomic<std::uint64_t> examples_ = 0;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Model> model_;
  UndoneShare undone_;      // of its contributions
  std::string arithmetic_;  // of the backend that the model computes on, if it does
};

}  // namespace ballast
