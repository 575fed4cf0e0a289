// What a worker computes with: the job, the thread that computes, weights on their way to it and gradients from it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "common/job/job.h"
#include "common/net/socket.h"
#include "worker/sent_gradients.h"
#include "worker/training/compute_thread.h"

namespace ballast {

// The loop's thread. Nothing is copied: weights are written into the arena from the frames that they came in, and
// gradients are sent from the arenas that they were summed in.
class Computation {
 public:
  // Once, before everything else: begins to load data and model, and posts what ComputeThread posts.
  void begin(Job job, const std::string& data_path, MakeBackend make_backend, ComputeThread::Post post,
             const PlannedDelays& delays, std::shared_ptr<TraceRing> trace, bool measures_norms);
  [[nodiscard]] const Job& job() const { return *job_; }
  [[nodiscard]] ComputeThread& thread() { return *thread_; }
  // Of its data, found so far; 0 before begin().
  [[nodiscard]] std::uint64_t corrupt_examples() const { return thread_ ? thread_->corrupt_examples() : 0; }
  // Of the slots that it has computed.
  [[nodiscard]] std::uint64_t examples() const { return thread_ ? thread_->examples() : 0; }
  // Null: they are not measured, or it has not begun.
  [[nodiscard]] const GradientNorms* norms() const { return thread_ ? thread_->norms() : nullptr; }
  // The thread ends; bytes of gradients stay.
  void close();

  // ---- weights

  // Whether a chunk of that number has so many bytes.
  [[nodiscard]] bool fits(ChunkId chunk, std::uint64_t bytes) const;
  PayloadId receive(Frame weights);
  // Into the arena; the payload is forgotten.
  void store(ChunkId chunk, Step step, PayloadId payload);

  // ---- gradients

  void ready(PayloadId gradient) { sent_->ready(gradient); }
  // The chunk's values, of which one more copy is on its way.
  std::span<const float> send(PayloadId gradient, ChunkId chunk);
  // One of the copies has left.
  void let_go(PayloadId gradient);

  // The core needs the payload no more, be it weights or a gradient.
  void release(PayloadId payload);

 private:
  void give_back(PayloadId gradient) { thread_->gradients().give_back_chunk(thread_->arena_of(gradient)); }

  std::unique_ptr<Job> job_;               // all three null before begin()
  std::unique_ptr<ComputeThread> thread_;  // its gradients are borrowed by sockets
  std::optional<SentGradients> sent_;
  std::unordered_map<PayloadId, Frame> weights_;  // received, not stored yet
  PayloadId next_weights_ = kFirstWeights;

  static constexpr PayloadId kFirstWeights = PayloadId{1} << 48;  // gradients' payload ids are below
};

}  // namespace ballast
