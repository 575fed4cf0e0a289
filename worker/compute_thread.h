// The thread that computes: slots into gradient sums, test examples into evaluation results.
//
// Jobs come one at a time from the loop (the core starts none before the last has ended); what comes out goes back
// through `post`, in order. Shutdown: close() lets the job in hand end at its next slot, then the thread joins.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "common/job/job.h"
#include "common/protocol/worker.h"
#include "worker/data/pipeline.h"
#include "worker/gradient_sums.h"
#include "worker/host_arena.h"
#include "worker/models/model.h"

namespace ballast {

class ComputeThread {
 public:
  using Post = std::function<void(worker::Event)>;

  // Everything that takes long happens on the thread: opening the data, building the model, the fingerprint. Posts
  // Prepared (with fingerprint and data digest alone filled in) or Failed first. `post` is called from the thread.
  // `delay`: waited before each slot.
  ComputeThread(const Job& job, std::string data_path, MakeBackend make_backend, Post post,
                std::chrono::milliseconds delay = {});
  ~ComputeThread();
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;

  // Called by the loop's thread.
  void prefetch(Step step, const std::vector<SlotRange>& ranges);
  void compute(Step step, const std::vector<SlotRange>& ranges);
  void evaluate(const Evaluation& evaluation);
  void close();

  // Takes one chunk of the weights: between jobs only, by the loop's thread. The thread that computes writes it before
  // the next job, so that the loop neither copies nor is the first to touch the memory of a large model; until then
  // `owner` keeps the bytes.
  void store(ChunkId chunk, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  [[nodiscard]] GradientPool& gradients() { return pool_; }

  // Payload names of gradients: which arena and chunk.
  [[nodiscard]] PayloadId payload_id(std::uint32_t arena, ChunkId chunk) const {
    return 1 + std::uint64_t{arena} * job_.arena.chunks.size() + chunk;
  }
  [[nodiscard]] std::uint32_t arena_of(PayloadId id) const {
    return static_cast<std::uint32_t>((id - 1) / job_.arena.chunks.size());
  }

 private:
  struct Training {
    Step step = 0;
    std::vector<SlotRange> ranges;
  };
  struct Stored {
    ChunkId chunk = 0;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  struct Task {
    std::variant<Training, Evaluation> what;
    WeightArena weights;
  };

  void run();
  void work();
  void write(std::vector<Stored> chunks);
  void prepare();
  void make_plain_model();
  std::string fingerprint();
  void train(const Training& task, const WeightArena& weights);
  bool train_node(Step step, Node node, const WeightArena& weights, bool last, PhaseTimes& phases);
  bool train_slot(Step step, NodeSum& sum, const WeightArena& weights, bool last, PhaseTimes& phases);
  void evaluate_now(const Evaluation& evaluation, const WeightArena& weights);
  void hand(std::variant<Training, Evaluation> what);

  const Job& job_;
  std::string data_path_;
  MakeBackend make_backend_;
  Post post_;
  std::chrono::milliseconds delay_;
  HostArena weights_;
  std::uint64_t stored_ = 0;  // chunks so far: the name of the weights' contents
  GradientPool pool_;
  ChunkCountdown countdown_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Model> model_;
  std::string arithmetic_;  // of the backend that the model computes on, if it does

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Stored> to_write_;
  std::uint64_t bytes_to_write_ = 0;
  std::optional<Task> task_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ballast
