// A computation of SlotSums, each sum compared with the definition's as it leaves.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "protocol/slot_set.h"
#include "protocol/tree.h"
#include "tests/unit/worker/training/small_model.h"
#include "worker/training/gradient_sums.h"

namespace ballast::testing {

// What a slot writes at an offset of the arena instead of its gradient.
using Bad = std::map<std::pair<Slot, std::uint64_t>, float>;

// A slot's gradient: sums of such in another order have other bits.
inline float leaf_value(Slot slot, std::uint64_t offset) {
  const auto mixed = static_cast<std::uint32_t>((slot + 1) * 2654435761U + offset * 40503U);
  return std::ldexp(static_cast<float>(mixed % 16777216U) + 1, static_cast<int>(mixed >> 27U) - 30) *
         ((mixed & 64U) != 0 ? -1.0F : 1.0F);
}

// The sum over a node as its definition has it.
inline std::vector<float> direct_sum(const Chunk& chunk, Node node, const Bad& bad) {
  std::vector<float> sum(chunk.elements);
  if (node.size() == 1) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto instead = bad.find({node.begin, chunk.offset + i});
      sum[i] = instead != bad.end() ? instead->second : leaf_value(node.begin, chunk.offset + i);
    }
    return sum;
  }
  const auto middle = tree::split(node);
  sum = direct_sum(chunk, {node.begin, middle}, bad);
  const auto right = direct_sum(chunk, {middle, node.end}, bad);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += right[i];
  }
  return sum;
}

inline Slot direct_fault(const Arena& arena, const Chunk& chunk, Node node, const Bad& bad) {
  for (const auto& [where, value] : bad) {  // by slot
    if (node.contains(where.first) && chunk.id != arena.statistics().id && !std::isfinite(value) &&
        chunk.offset <= where.second && where.second < chunk.offset + chunk.elements) {
      return where.first;
    }
  }
  return kNoSlot;
}

// All of a pool's arenas can be taken.
inline bool are_all_free(GradientPool& pool) {
  auto taken = std::async(std::launch::async, [&] {
    std::vector<std::uint32_t> arenas(pool.arenas());
    return std::ranges::all_of(arenas, [&](std::uint32_t& arena) { return pool.take(arena); }) ? arenas
                                                                                               : decltype(arenas){};
  });
  const bool are_free = taken.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  if (!are_free) {
    pool.close();
  }
  for (const auto arena : taken.get()) {
    pool.give_back(arena);
  }
  return are_free;
}

// Sums of one computation, each looked at as it leaves. The receipts come at once, or when they are asked for.
class SummedSlots {
 public:
  SummedSlots(const Arena& arena, GradientPool& pool, Slot slots, std::vector<SlotRange> ranges, Bad bad = {})
      : arena_(arena),
        pool_(pool),
        slots_(slots),
        bad_(std::move(bad)),
        left_(arena.chunks.size(), SlotSet(slots)),
        lasts_(arena.chunks.size()),
        sums_(arena, pool, slots, std::move(ranges),
              [this](ChunkId chunk, const PartialSum& sum, bool last) { leave(chunk, sum, last); }) {}

  void become(std::vector<SlotRange> ranges) { sums_.become(std::move(ranges)); }
  // `moment` is called before each slot and before each chunk.
  template <typename Moment>
  void run(Moment&& moment) {
    while (true) {
      moment();
      const auto slot = sums_.begin_slot();
      if (!slot) {
        return;
      }
      REQUIRE(!begun_.contains(*slot));
      begun_.insert({*slot, *slot + 1});
      order_.push_back(*slot);
      fill(*slot);
      for (auto chunk = arena_.chunks.rbegin(); chunk != arena_.chunks.rend(); ++chunk) {
        moment();
        sums_.chunk_ready(chunk->id);
      }
    }
  }
  void keep_receipts() { keeps_receipts_ = true; }
  // Of the sum that has waited for longest; false: none waits.
  bool give_receipt() {
    std::pair<ChunkId, std::uint32_t> sum;
    {
      const std::scoped_lock lock(mutex_);
      if (waiting_.empty()) {
        return false;
      }
      sum = waiting_.front();
      waiting_.erase(waiting_.begin());
    }
    pool_.give_back_chunk(sum.second);
    return true;
  }

  // Every slot that was begun has left once in each chunk.
  [[nodiscard]] bool is_whole() const {
    return std::ranges::all_of(left_, [&](const SlotSet& slots) { return slots == begun_; });
  }
  [[nodiscard]] const SlotSet& begun() const { return begun_; }
  [[nodiscard]] const std::vector<Slot>& order() const { return order_; }
  // By chunk: the nodes in the order in which they left, and how many were said to be the last.
  [[nodiscard]] const std::map<ChunkId, std::vector<Node>>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::size_t>& lasts() const { return lasts_; }
  [[nodiscard]] bool ended_with_last() const { return ended_with_last_; }
  [[nodiscard]] const std::map<std::pair<ChunkId, Slot>, Slot>& faults() const { return faults_; }

 private:
  void fill(Slot slot) {
    const auto leaf = sums_.leaf();
    for (std::size_t i = 0; i < leaf.size(); ++i) {
      leaf[i] = leaf_value(slot, i);
    }
    for (const auto& [where, value] : bad_) {
      if (where.first == slot) {
        leaf[where.second] = value;
      }
    }
  }

  // By either thread, while the sums are locked.
  void leave(ChunkId id, const PartialSum& sum, bool last) {
    const auto& chunk = arena_.chunks[id];
    CHECK(tree::is_node(sum.node, slots_));
    CHECK_FALSE(left_[id].contains_some_of(sum.node));
    left_[id].insert(sum.node);
    nodes_[id].push_back(sum.node);
    lasts_[id] += last ? 1 : 0;
    ended_with_last_ = last;
    CHECK(sum.fault == direct_fault(arena_, chunk, sum.node, bad_));
    if (sum.fault != kNoSlot) {
      faults_[{id, sum.node.begin}] = sum.fault;
    } else {
      const auto values = pool_.values(sum.arena).subspan(chunk.offset, chunk.elements);
      const auto expected = direct_sum(chunk, sum.node, bad_);
      CHECK(std::ranges::equal(
          values, expected, {}, [](float value) { return std::bit_cast<std::uint32_t>(value); },
          [](float value) { return std::bit_cast<std::uint32_t>(value); }));
    }
    if (!keeps_receipts_) {
      pool_.give_back_chunk(sum.arena);
      return;
    }
    const std::scoped_lock lock(mutex_);
    waiting_.emplace_back(id, sum.arena);
  }

  const Arena& arena_;
  GradientPool& pool_;
  Slot slots_;
  Bad bad_;
  SlotSet begun_{slots_};
  std::vector<Slot> order_;
  std::vector<SlotSet> left_;  // by chunk
  std::map<ChunkId, std::vector<Node>> nodes_;
  std::vector<std::size_t> lasts_;
  bool ended_with_last_ = false;
  std::map<std::pair<ChunkId, Slot>, Slot> faults_;  // by chunk and first slot of the node
  bool keeps_receipts_ = false;
  std::mutex mutex_;
  std::vector<std::pair<ChunkId, std::uint32_t>> waiting_;
  SlotSums sums_;
};

// As many as are needed where every receipt comes at once.
inline GradientPool small_pool(const Arena& arena, Slot slots) { return {arena, tree::buffers_needed({0, slots})}; }

}  // namespace ballast::testing
