// What a job's journals make of its weights: the initial weights and every recorded update, in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "common/job/job.h"
#include "storage/journal/journal_records.h"

namespace ballast::reference {

// Reads the journals of some of the job's shards, changing nothing. Throws std::runtime_error with the place for
// whatever is not in order: damage, and a record on another shard than its chunk.
class Replay {
 public:
  using Visitor = std::function<void(std::uint32_t shard, JournalSequence sequence, const JournalRecord& record)>;

  Replay(const Job& job, std::map<std::uint32_t, std::filesystem::path> journals, std::uint32_t shards)
      : job_(job), journals_(std::move(journals)), shards_(shards) {}

  // In the order of each journal.
  void visit(const Visitor& visitor) const;

  struct Result {
    std::string weights_sha256;    // as `ballast digest` has them
    std::string optimizer_sha256;  // empty if the optimizer keeps nothing
    std::uint64_t records = 0;
    std::map<ChunkId, std::uint64_t> updates;
  };
  // Of all journals. They must begin with the job's first update; an item that a chunk has twice, and a version that is
  // not the count of the chunk's records before it, are refused. The factors are the job's own, not those recorded.
  [[nodiscard]] Result run() const;

 private:
  const Job& job_;
  std::map<std::uint32_t, std::filesystem::path> journals_;
  std::uint32_t shards_;
};

}  // namespace ballast::reference
