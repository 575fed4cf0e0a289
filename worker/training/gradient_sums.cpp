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

bool GradientPool::take(std::uint32_t& arena, const std::function<void()>& waits) {
  std::unique_lock lock(mutex_);
  if (waits && !closed_ && free_.empty()) {
    lock.unlock();
    waits();
    lock.lock();
  }
  freed_.wait(lock, [&] { return closed_ || !free_.empty(); });
  if (closed_) {
    return false;
  }
  arena = free_.back();
  free_.pop_back();
  arenas_[arena].chunks_out = chunks_;
  return true;
}

void GradientPool::give_back(std::uint32_t arena) {
  {
    const std::scoped_lock lock(mutex_);
    free_.push_back(arena);
  }
  freed_.notify_one();
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

SlotSums::SlotSums(const Arena& arena, GradientPool& pool, Slot slots, std::vector<SlotRange> ranges, Leave leave,
                   std::function<void()> waits)
    : arena_(arena),
      pool_(pool),
      leave_(std::move(leave)),
      waits_(std::move(waits)),
      list_(slots, std::move(ranges)),
      sums_(arena.chunks.size(), PartialSums(slots)) {}

void SlotSums::become(std::vector<SlotRange> ranges) {
  const std::scoped_lock lock(mutex_);
  list_.become(std::move(ranges));
  if (slot_ != kNoSlot) {
    end_run(list_.run_end(slot_));
  }
}

std::optional<Slot> SlotSums::begin_slot() {
  if (!has_next()) {
    return std::nullopt;
  }
  std::uint32_t arena = 0;
  if (!pool_.take(arena, waits_)) {
    return std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  const auto next = list_.take();
  if (!next) {  // any more
    pool_.give_back(arena);
    return std::nullopt;
  }
  const bool follows = slot_ != kNoSlot && *next == slot_ + 1;
  if (slot_ != kNoSlot && !follows) {
    end_run(slot_ + 1);
  }
  if (!follows || *next >= end_) {
    end_ = list_.run_end(*next);
  }
  slot_ = *next;
  leaf_ = arena;
  return next;
}

bool SlotSums::has_next() {
  const std::scoped_lock lock(mutex_);
  return list_.next().has_value();
}

// A run that was said to end somewhere has given up sums for that: it gets no longer again.
void SlotSums::end_run(Slot end) {
  if (end >= end_) {
    return;
  }
  end_ = end;
  for (const auto& chunk : arena_.chunks) {
    sums_[chunk.id].settle(end_, [&](const PartialSum& sum) { leave(chunk, sum); });
  }
}

void SlotSums::chunk_ready(ChunkId id) {
  const std::scoped_lock lock(mutex_);
  const auto& chunk = arena_.chunks[id];
  sums_[id].add(
      {{slot_, slot_ + 1}, leaf_, kNoSlot}, end_,
      [&](PartialSum& into, const PartialSum& with) { join(chunk, into, with); },
      [&](const PartialSum& sum) { leave(chunk, sum); });
}

void SlotSums::join(const Chunk& chunk, PartialSum& into, const PartialSum& with) {
  auto* const left = pool_.values(into.arena).data() + chunk.offset;
  const auto* const right = pool_.values(with.arena).data() + chunk.offset;
  if (chunk.id == arena_.statistics().id) {
    add_into(left, right, chunk.elements);
  } else {
    const auto finite = add_into_looking(left, right, chunk.elements);
    into.fault = std::min({into.fault, with.fault, fault_of(into, finite.left), fault_of(with, finite.right)});
  }
  pool_.give_back_chunk(with.arena);
}

// Of a slot's own gradient, that was just looked at.
Slot SlotSums::fault_of(const PartialSum& sum, bool finite) {
  return sum.node.size() == 1 && !finite ? sum.node.begin : kNoSlot;
}

void SlotSums::leave(const Chunk& chunk, PartialSum sum) {
  if (sum.node.size() == 1 && chunk.id != arena_.statistics().id) {
    sum.fault = fault_of(sum, all_finite(pool_.values(sum.arena).subspan(chunk.offset, chunk.elements)));
  }
  const auto end = std::max(end_, slot_ + 1);  // of the run, with the slot in hand
  leave_(chunk.id, sum, sum.node.end == end && list_.ahead() == end - (slot_ + 1));
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
