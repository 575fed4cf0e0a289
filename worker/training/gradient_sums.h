// The worker's part of the reduction tree: gradients of slots, one after the other, into sums over nodes of the tree.
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
#include "protocol/worker/partial_sums.h"
#include "protocol/worker/slot_list.h"
#include "worker/compute/host_arena.h"

namespace ballast {

// Whole arenas of gradients, lent by number, each free again when all of its chunks have been given back: one that is
// joined to another sum at once, one that is sent when it has its receipt. Thread-safe.
class GradientPool {
 public:
  GradientPool(const Arena& arena, std::size_t arenas);

  // Waits until one is free; false after close(). `waits` is called first if none is.
  bool take(std::uint32_t& arena, const std::function<void()>& waits = {});
  // A whole one, that nothing was written into.
  void give_back(std::uint32_t arena);
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
// receipts are on their way. Where more wait to be called, some are given up (BufferShortage).
inline std::size_t gradient_arenas(Slot slots) { return tree::buffers_needed({0, slots}) + 2; }

// Sums the slots of a computation, each chunk by itself (PartialSums). After leaf() has been filled with a slot's
// gradient, chunk by chunk, chunk_ready() adds what the tree says is complete; sums that nothing more will be joined to
// leave at once, while the slot is still being computed. The slots that follow may become others at any time.
//
// The sums look on their way for the first slot whose gradient is not finite, by chunk, since what comes of them cannot
// tell: each slot is looked at in the first sum that it takes part in, or when it leaves alone. Finite gradients may
// have a sum that overflows: that is nobody's fault. The statistics chunk is no gradient, and has none.
//
// One thread computes; another may call become(), which never waits for an arena. They keep each other waiting for as
// long as one chunk's sums take, or a walk over all chunks whose sums leave because the run became shorter.
class SlotSums {
 public:
  // `sum` of the chunk is final; `last`: the computation brings no other of the chunk, as far as is known. Called by
  // either thread.
  using Leave = std::function<void(ChunkId chunk, const PartialSum& sum, bool last)>;

  // `waits`: called by the thread that computes, before it waits for an arena.
  SlotSums(const Arena& arena, GradientPool& pool, Slot slots, std::vector<SlotRange> ranges, Leave leave,
           std::function<void()> waits = {});

  // The slots that are to be computed are others. One that is being computed and is not among them is finished as a sum
  // of its own; those before it leave now.
  void become(std::vector<SlotRange> ranges);

  // Begins with the next slot, and takes the arena that its gradient goes into. None when all are computed, or the pool
  // was closed.
  std::optional<Slot> begin_slot();
  [[nodiscard]] std::span<float> leaf() { return pool_.values(leaf_); }
  // The chunk of the slot's gradient is final.
  void chunk_ready(ChunkId id);

 private:
  bool has_next();
  void end_run(Slot end);
  void join(const Chunk& chunk, PartialSum& into, const PartialSum& with);
  static Slot fault_of(const PartialSum& sum, bool finite);
  void leave(const Chunk& chunk, PartialSum sum);

  const Arena& arena_;
  GradientPool& pool_;
  Leave leave_;
  std::function<void()> waits_;
  std::mutex mutex_;
  SlotList list_;
  Slot slot_ = kNoSlot;  // being computed, or computed last
  Slot end_ = 0;         // of its run
  std::uint32_t leaf_ = 0;
  std::vector<PartialSums> sums_;  // by chunk
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
