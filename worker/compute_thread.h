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
  // Prepared (with the fingerprint alone filled in) or Failed first. `post` is called from the thread. `delay`: waited
  // before each slot.
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

  // The whole arena of weights: written by the loop's thread between jobs only.
  [[nodiscard]] std::span<float> weights() { return weights_.values(); }
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
  using Task = std::variant<Training, Evaluation>;

  void run();
  void prepare();
  void make_plain_model();
  std::string fingerprint();
  void train(const Training& task);
  bool train_node(Step step, Node node, bool last, PhaseTimes& phases);
  bool train_slot(Step step, NodeSum& sum, bool last, PhaseTimes& phases);
  void evaluate_now(const Evaluation& evaluation);
  void hand(Task task);

  const Job& job_;
  std::string data_path_;
  MakeBackend make_backend_;
  Post post_;
  std::chrono::milliseconds delay_;
  HostArena weights_;
  GradientPool pool_;
  ChunkCountdown countdown_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Model> model_;
  std::string arithmetic_;  // of the backend that the model computes on, if it does

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Task> task_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ballast
