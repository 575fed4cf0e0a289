#include "worker/computation.h"

#include <utility>

namespace ballast {

void Computation::begin(Job job, const std::string& data_path, MakeBackend make_backend, ComputeThread::Post post,
                        const PlannedDelays& delays, std::shared_ptr<TraceRing> trace, bool measures_norms) {
  job_ = std::make_unique<Job>(std::move(job));
  thread_ = std::make_unique<ComputeThread>(*job_, data_path, std::move(make_backend), std::move(post), delays,
                                            std::move(trace), measures_norms);
  sent_.emplace(1 + thread_->gradients().arenas() * job_->arena.chunks.size());
}

void Computation::close() {
  if (thread_) {
    thread_->close();
  }
}

bool Computation::fits(ChunkId chunk, std::uint64_t bytes) const {
  return chunk < job_->arena.chunks.size() && bytes == job_->arena.chunks[chunk].bytes();
}

PayloadId Computation::receive(Frame weights) {
  const auto payload = next_weights_++;
  weights_.emplace(payload, std::move(weights));
  return payload;
}

void Computation::store(ChunkId chunk, Step step, PayloadId payload) {
  auto frame = std::make_shared<const Frame>(std::move(weights_.extract(payload).mapped()));
  const auto bytes = frame->bytes();
  thread_->store(chunk, bytes, std::move(frame), step);
}

std::span<const float> Computation::send(PayloadId gradient, ChunkId chunk) {
  sent_->sent(gradient);
  const auto& place = job_->arena.chunks[chunk];
  return thread_->gradients().values(thread_->arena_of(gradient)).subspan(place.offset, place.elements);
}

void Computation::let_go(PayloadId gradient) {
  if (sent_->let_go(gradient)) {
    give_back(gradient);
  }
}

void Computation::release(PayloadId payload) {
  if (payload >= kFirstWeights) {
    weights_.erase(payload);
  } else if (sent_->released(payload)) {
    give_back(payload);
  }
}

}  // namespace ballast
