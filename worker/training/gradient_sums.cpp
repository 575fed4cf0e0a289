#include "worker/training/gradient_sums.h"

#include <algorithm>

#include "common/arena/pieces.h"
#include "common/numeric/vector.h"
#include "protocol/tree.h"

namespace ballast {

GradientPool::GradientPool(const Arena& arena, std::size_t arenas) : chunks_(arena.chunks.size()) {
  arenas_.reserve(arenas);
  for (std::size_t i = 0; i < arenas; ++i) {
    arenas_.push_back({HostArena(arena.elements)});
    free_.push_back(static_cast<std::uint32_t>(arenas - 1 - i));
  }
}

bool GradientPool::take(std::uint32_t& arena) {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return closed_ || !free_.empty(); });
  if (closed_) {
    return false;
  }
  arena = free_.back();
  free_.pop_back();
  return true;
}

void GradientPool::give_back(std::uint32_t arena) {
  {
    const std::scoped_lock lock(mutex_);
    free_.push_back(arena);
  }
  freed_.notify_one();
}

void GradientPool::hand_over(std::uint32_t arena) {
  const std::scoped_lock lock(mutex_);
  arenas_[arena].chunks_out = chunks_;
}

void GradientPool::give_back_chunk(std::uint32_t arena) {
  {
    const std::scoped_lock lock(mutex_);
    if (--arenas_[arena].chunks_out != 0) {
      return;
    }
    free_.push_back(arena);
  }
  freed_.notify_one();
}

void GradientPool::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  freed_.notify_all();
}

bool GradientPool::is_closed() {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

NodeSum::NodeSum(const Arena& arena, GradientPool& pool, Node node)
    : arena_(arena), pool_(pool), node_(node), slot_(node.begin), faults_(arena.chunks.size()) {}

bool NodeSum::begin_slot() {
  std::uint32_t buffer = 0;
  if (!pool_.take(buffer)) {
    return false;
  }
  stack_.push_back({buffer, slot_});
  sums_ = tree::sums_completed_by(slot_, node_);
  if (is_last_slot()) {
    pool_.hand_over(stack_.front().buffer);
  }
  return true;
}

void NodeSum::chunk_ready(ChunkId id) {
  const auto& chunk = arena_.chunks[id];
  const bool is_gradient = id != arena_.statistics().id;
  if (node_.size() == 1 && is_gradient) {
    note(id, slot_, all_finite(leaf().subspan(chunk.offset, chunk.elements)));
  }
  for (Slot sum = 0; sum < sums_; ++sum) {
    const auto& right = stack_[stack_.size() - 1 - sum];
    const auto& left = stack_[stack_.size() - 2 - sum];
    auto* const into = pool_.values(left.buffer).data() + chunk.offset;
    const auto* const with = pool_.values(right.buffer).data() + chunk.offset;
    if (!is_gradient) {
      add_into(into, with, chunk.elements);
      continue;
    }
    const auto finite = add_into_looking(into, with, chunk.elements);
    note(id, left.leaf, finite.left);
    note(id, sum == 0 ? right.leaf : kNoSlot, finite.right);
  }
}

void NodeSum::note(ChunkId chunk, Slot leaf, bool finite) {
  if (!finite && leaf != kNoSlot) {
    faults_[chunk] = std::min(faults_[chunk].value_or(leaf), leaf);
  }
}

void NodeSum::end_slot() {
  for (Slot sum = 0; sum < sums_; ++sum) {
    pool_.give_back(stack_.back().buffer);
    stack_.pop_back();
    stack_.back().leaf = kNoSlot;
  }
  ++slot_;
}

ChunkCountdown::ChunkCountdown(const Arena& arena)
    : chunks_of_(arena.parameters.size()), parameters_in_(arena.chunks.size()) {
  for (const auto& chunk : arena.chunks) {
    for (const auto& piece : pieces_of(arena, chunk)) {
      chunks_of_[piece.parameter].push_back(chunk.id);
      ++parameters_in_[chunk.id];
    }
  }
  reset();
}

void ChunkCountdown::reset() { left_ = parameters_in_; }

void ChunkCountdown::parameter_ready(std::size_t parameter, const std::function<void(ChunkId)>& ready) {
  for (const auto chunk : chunks_of_[parameter]) {
    if (--left_[chunk] == 0) {
      ready(chunk);
    }
  }
}

}  // namespace ballast
