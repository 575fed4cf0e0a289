#include "protocol/worker/pulled_weights.h"

#include <algorithm>

#include "protocol/journal_marks.h"

namespace ballast {

void PulledWeights::aim(std::optional<WeightsKey> target) {
  target_ = target;
  at_target_ = static_cast<std::size_t>(
      std::count_if(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) { return is_at_target(chunk); }));
}

bool PulledWeights::is_at_target(const Chunk& chunk) const { return chunk.is_here && target_ == chunk.key; }

bool PulledWeights::wants(ChunkId chunk, WeightsKey key) const {
  const auto& state = chunks_[chunk];
  if (state.is_here && state.key == key) {
    return false;
  }
  return target_ == key || state.asked == key;
}

PulledWeights::Ask PulledWeights::ask(ChunkId chunk, Micros now) {
  auto& state = chunks_[chunk];
  if (!target_ || is_at_target(state)) {
    return Ask::no;
  }
  const bool repeated = state.asked == target_;
  if (repeated && now - state.asked_at < pull_time_.deadline() * std::min(state.tries, 8U)) {
    return Ask::no;
  }
  state.asked = target_;
  state.asked_at = now;
  state.tries = repeated ? state.tries + 1 : 1;
  return repeated ? Ask::again : Ask::first;
}

void PulledWeights::ask_along(ChunkId chunk, WeightsKey key, Micros now) {
  auto& state = chunks_[chunk];
  state.asked = key;
  state.asked_at = now;
  state.tries = 1;
}

std::optional<WeightsKey> PulledWeights::asked(ChunkId chunk) const { return chunks_[chunk].asked; }

void PulledWeights::gone(ChunkId chunk, WeightsKey key) {
  if (chunks_[chunk].asked == key) {
    chunks_[chunk].asked.reset();
  }
}

void PulledWeights::came(const Weights& header, Micros now) {
  const auto& state = chunks_[header.chunk];
  if (state.asked == key_of(header) && state.tries == 1) {
    pull_time_.observe(now - state.asked_at);
  }
}

void PulledWeights::store(const Weights& header, std::uint32_t shard) {
  auto& state = chunks_[header.chunk];
  const bool was_at_target = is_at_target(state);
  state.is_here = true;
  state.key = key_of(header);
  state.version = header.version;
  state.mark = {shard, header.incarnation, header.sequence};
  if (state.asked == state.key) {
    state.asked.reset();
  }
  if (const bool is_there = is_at_target(state); is_there != was_at_target) {
    at_target_ += is_there ? 1 : -1;
  }
}

std::vector<PayloadId> PulledWeights::forget(const std::vector<bool>& lost) {
  std::vector<PayloadId> payloads;
  for (const auto& staged : staged_) {
    if (lost[staged.header.chunk]) {
      payloads.push_back(staged.payload);
    }
  }
  std::erase_if(staged_, [&](const Staged& staged) { return lost[staged.header.chunk]; });
  for (std::size_t id = 0; id < chunks_.size(); ++id) {
    if (lost[id]) {
      at_target_ -= is_at_target(chunks_[id]) ? 1 : 0;
      chunks_[id].is_here = false;
      chunks_[id].asked.reset();
    }
  }
  return payloads;
}

std::vector<PayloadId> PulledWeights::forget_all() {
  auto payloads = forget(std::vector<bool>(chunks_.size(), true));
  chunks_.assign(chunks_.size(), {});
  return payloads;
}

std::shared_ptr<const std::vector<JournalMark>> PulledWeights::marks() const {
  auto marks = std::make_shared<std::vector<JournalMark>>();
  for (const auto& chunk : chunks_) {
    note_mark(*marks, chunk.mark);
  }
  return marks;
}

}  // namespace ballast
