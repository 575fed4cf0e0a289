#include "protocol/lane/weights_readers.h"

#include <algorithm>

namespace ballast {

// ---- replies

std::uint64_t WeightsReaders::sends(const Reader& reader, ChunkId id, std::uint64_t bytes, bool is_older,
                                    bool averages) {
  auto& chunk = chunks_[id];
  chunk.bytes = bytes;
  const auto generation = chunk.generation - (is_older ? 1 : 0);
  ++(averages ? chunk.averages : chunk.weights)[generation];
  replies_.emplace(next_number_, Reply{reader, id, bytes, averages, generation});
  return next_number_++;
}

std::optional<WeightsReaders::Reply> WeightsReaders::released(std::uint64_t number) {
  const auto found = replies_.find(number);
  if (found == replies_.end()) {
    return std::nullopt;
  }
  const auto reply = found->second;
  if (reply.generation > 0) {
    auto& chunk = chunks_.at(reply.chunk);
    auto& readers = reply.averages ? chunk.averages : chunk.weights;
    if (const auto of = readers.find(reply.generation); --of->second == 0) {
      readers.erase(of);
      kept_ -= is_kept(reply) ? chunk.bytes : 0;
    }
  }
  replies_.erase(found);
  return reply;
}

// The newest weights become the older ones; the average is written anew.
bool WeightsReaders::is_kept(const Reply& reply) const {
  const auto newest = chunks_.at(reply.chunk).generation;
  return reply.generation > 0 && reply.generation + (reply.averages ? 0 : 1) < newest;
}

// ---- updates

std::uint64_t WeightsReaders::kept_by_update(const Chunk& chunk) {
  return (chunk.weights.contains(chunk.generation - 1) ? chunk.bytes : 0) +
         (chunk.averages.contains(chunk.generation) ? chunk.bytes : 0);
}

bool WeightsReaders::may_update(ChunkId id) {
  const auto more = kept_by_update(chunks_[id]);
  if (more > 0 && kept_ + more > room_) {
    counters_.waits += waiting_.insert(id).second ? 1 : 0;
    waits_since_ = waits_since_ == 0 ? std::max<Micros>(now_, 1) : waits_since_;
    return false;
  }
  return true;
}

bool WeightsReaders::updates(ChunkId id) {
  if (!may_update(id)) {
    return false;
  }
  auto& chunk = chunks_.at(id);
  kept_ += kept_by_update(chunk);
  ++chunk.generation;
  if (waiting_.erase(id) > 0 && waiting_.empty()) {
    waits_since_ = 0;
  }
  return true;
}

void WeightsReaders::begin() {
  for (auto& [id, chunk] : chunks_) {
    chunk.weights.clear();
    chunk.averages.clear();
  }
  for (auto& [number, reply] : replies_) {
    reply.generation = 0;
  }
  kept_ = 0;
  waiting_.clear();
  waits_since_ = 0;
  begun_at_ = replies_.empty() ? 0 : std::max<Micros>(now_, 1);
}

}  // namespace ballast
