// The newest of what a process measures, in a bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/messages/trace.h"

namespace ballast {

// Records in the order in which they are made; a new one takes the place of the oldest when there is no room. Whoever
// reads follows by position: the first record ever has position 1. Thread-safe; nobody waits for longer than the
// copying of one part takes.
class TraceRing {
 public:
  // Of a whole process, in records: 8 MiB.
  static constexpr std::size_t kOfProcess = (std::size_t{8} << 20U) / sizeof(TraceRecord);

  // `capacity`: records, at least 1.
  explicit TraceRing(std::size_t capacity);

  void add(const TraceRecord& record);

  struct Part {
    std::vector<TraceRecord> records;
    std::uint64_t next = 0;  // the position behind them
    std::uint64_t lost = 0;  // that were to be read first and are there no more
    bool ends = true;        // no more is there
  };
  // At most `most` records from a position on.
  [[nodiscard]] Part read(std::uint64_t from, std::size_t most) const;
  // A position before which no record that is there is of `step` or a later one. Records come nearly in the order of
  // steps, so that little of earlier steps stands behind it.
  [[nodiscard]] std::uint64_t beginning(Step step) const;

 private:
  // Beginnings are looked for by blocks, not by records.
  static constexpr std::size_t kBlock = 256;

  [[nodiscard]] const TraceRecord& at(std::uint64_t position) const { return records_[(position - 1) % capacity_]; }
  [[nodiscard]] std::uint64_t oldest() const { return added_ < capacity_ ? 1 : added_ - capacity_ + 1; }
  [[nodiscard]] Step& newest_of(std::uint64_t block) { return newest_[block % newest_.size()]; }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::vector<TraceRecord> records_;  // grows to its capacity, which is reserved
  std::vector<Step> newest_;          // the newest step of each block of positions
  std::uint64_t added_ = 0;
};

// The answer to a question of who has the ring, but for the clock.
TracePart part_of(const TraceRing& ring, const TraceAsked& asked);

}  // namespace ballast
