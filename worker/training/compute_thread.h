// The thread that computes: slots into gradient sums, test examples into evaluation results.
//
// Jobs come one at a time from the loop (the core starts none before the last has ended); what comes out goes back
// through `post`, in order. Shutdown: close() lets the job in hand end at its next slot, then the thread joins.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/job/job.h"
#include "protocol/worker/worker.h"
#include "worker/compute/host_arena.h"
#include "worker/training/arriving_weights.h"
#include "worker/training/delay.h"
#include "worker/training/gradient_sums.h"
#include "worker/training/trainer.h"

namespace ballast {

class ComputeThread {
 public:
  using Post = Trainer::Post;

  // Everything that takes long happens on the thread: opening the data, building the model, the fingerprint. Posts
  // Prepared (with fingerprint and data digest alone filled in) or Failed first. `post` is called from the thread.
  // `delays`: on demand. `trace`: what is measured, by any of its threads. `measures_norms`: of what slots
  // contribute.
  ComputeThread(const Job& job, std::string data_path, MakeBackend make_backend, Post post,
                const PlannedDelays& delays = {}, std::shared_ptr<TraceRing> trace = std::make_shared<TraceRing>(1),
                bool measures_norms = false);
  ~ComputeThread();
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;

  // Called by the loop's thread.
  void prefetch(Step step, const std::vector<SlotRange>& ranges) { trainer_.prefetch(step, ranges); }
  void compute(const TrainingTask& task);
  // The slots of the step in hand are others.
  void become(const TrainingTask& task) { trainer_.become(task); }
  void evaluate(const Evaluation& evaluation);
  void close();
  [[nodiscard]] std::uint64_t corrupt_examples() const { return trainer_.corrupt_examples(); }
  [[nodiscard]] std::uint64_t examples() const { return trainer_.examples(); }
  // Null: they are not measured.
  [[nodiscard]] const GradientNorms* norms() const { return norms_.get(); }

  // Takes one chunk of the weights: between jobs only, by the loop's thread. The thread that computes writes it before
  // the next job, so that the loop neither copies nor is the first to touch the memory of a large model; until then
  // `owner` keeps the bytes.
  void store(ChunkId chunk, std::span<const std::byte> bytes, std::shared_ptr<const void> owner, Step step = 0);
  [[nodiscard]] GradientPool& gradients() { return pool_; }

  // Payload names of gradients: which arena.
  [[nodiscard]] std::uint32_t arena_of(PayloadId id) const { return arena_of_gradient(arena_, id); }

 private:
  struct Task {
    std::optional<Evaluation> evaluation;  // else what the trainer has in hand
    WeightArena weights;
  };

  void run();
  void work();
  void write_all(std::vector<ArrivedChunk> chunks);
  void hand(std::optional<Evaluation> evaluation);

  const Arena& arena_;
  Post post_;
  HostArena weights_;
  GradientPool pool_;
  std::shared_ptr<TraceRing> trace_;
  std::unique_ptr<GradientNorms> norms_;
  Trainer trainer_;

  std::mutex mutex_;
  std::condition_variable wake_;
  ArrivingWeights arriving_;
  std::optional<Task> task_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ballast
