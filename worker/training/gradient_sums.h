// The worker's part of the reduction tree: leaves of one node, slot after slot, into a binary counter of buffers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "common/arena/arena.h"
#include "protocol/ids.h"
#include "protocol/tree.h"
#include "worker/compute/host_arena.h"

namespace ballast {

// Whole arenas of gradients, lent by number. A finished sum leaves in chunks, so an arena is free again when each of
// its chunks has been given back. Thread-safe: the compute thread takes, the loop's thread gives back.
class GradientPool {
 public:
  GradientPool(const Arena& arena, std::size_t arenas);

  // Waits until one is free; false after close().
  bool take(std::uint32_t& arena);
  // Gives back a whole arena that nothing was sent from.
  void give_back(std::uint32_t arena);
  // Marks the arena as one whose chunks come back one by one.
  void hand_over(std::uint32_t arena);
  void give_back_chunk(std::uint32_t arena);
  void close();
  [[nodiscard]] bool is_closed();

  [[nodiscard]] std::size_t arenas() const { return arenas_.size(); }
  [[nodiscard]] std::span<float> values(std::uint32_t arena) { return arenas_[arena].values.values(); }

 private:
  struct Entry {
    HostArena values;
    std::size_t chunks_out = 0;
  };
  std::size_t chunks_;
  std::vector<Entry> arenas_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::uint32_t> free_;
  bool closed_ = false;
};

// Arenas that a worker of a job with so many slots has: enough for the largest node, and for two finished ones whose
// receipts are on their way.
inline std::size_t gradient_arenas(Slot slots) { return tree::buffers_needed({0, slots}) + 2; }

// Sums the slots of one node. After leaf() has filled the newest buffer with a slot's gradient, chunk by chunk,
// chunk_ready() adds what the tree says is complete; the sum of the whole node ends in the buffer result(). The sums
// look on their way for the first slot whose gradient is not finite, by chunk, since what comes of them cannot tell:
// each slot is looked at in the first sum that it takes part in. One thread.
class NodeSum {
 public:
  NodeSum(const Arena& arena, GradientPool& pool, Node node);

  // Takes the buffer that the next slot's gradient goes into; false if the pool was closed.
  bool begin_slot();
  [[nodiscard]] std::span<float> leaf() { return pool_.values(stack_.back().buffer); }
  [[nodiscard]] Slot slot() const { return slot_; }
  [[nodiscard]] Node node() const { return node_; }
  [[nodiscard]] bool is_last_slot() const { return slot_ + 1 == node_.end; }
  // The chunk of the newest leaf is final.
  void chunk_ready(ChunkId id);
  // Every chunk of the leaf has been said to be ready.
  void end_slot();

  [[nodiscard]] std::uint32_t result() const { return stack_.front().buffer; }
  // Of the whole node, once its last slot's chunk was said to be ready: the first slot whose gradient of the chunk has
  // an infinity or a NaN. Finite leaves may have a sum that overflows: that is nobody's fault. Of the statistics chunk,
  // which is no gradient, always none.
  [[nodiscard]] std::optional<Slot> fault(ChunkId chunk) const { return faults_[chunk]; }

 private:
  struct Partial {
    std::uint32_t buffer = 0;
    Slot leaf = kNoSlot;  // whose gradient it is, if it is no sum
  };

  void note(ChunkId chunk, Slot leaf, bool finite);

  const Arena& arena_;
  GradientPool& pool_;
  Node node_;
  Slot slot_;
  Slot sums_ = 0;                            // complete with this slot
  std::vector<Partial> stack_;               // partial sums, oldest first, the newest leaf last
  std::vector<std::optional<Slot>> faults_;  // by chunk
};

// Tells when a chunk's last parameter gradient is final.
class ChunkCountdown {
 public:
  explicit ChunkCountdown(const Arena& arena);
  void reset();
  // The chunks that become ready with this parameter.
  void parameter_ready(std::size_t parameter, const std::function<void(ChunkId)>& ready);

 private:
  std::vector<std::vector<ChunkId>> chunks_of_;  // by parameter
  std::vector<std::uint32_t> parameters_in_;     // by chunk
  std::vector<std::uint32_t> left_;
};

}  // namespace ballast
