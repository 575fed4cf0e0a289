// A run's folder, read back: the ledger, the tensors of its complete snapshots, and the digests by which two runs are
// compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/arena/placement.h"
#include "storage/store/shard_store.h"

namespace ballast {

struct WeightsDigest {
  SnapshotId snapshot;
  std::string weights;    // SHA-256 over the content of all parameters in the model's order, in hexadecimal
  std::string optimizer;  // the same over the optimizer's state tensors, one after the other; empty if there are none
};

// All shards of one run, finished or not; while it goes on, as it stood when they were opened. One thread.
class RunReader {
 public:
  // `piece` is the next bytes of the parameter, in order; a parameter may come in several pieces.
  using Visitor = std::function<void(std::size_t parameter, std::span<const std::byte> piece)>;

  // `shards` in any order. Refused unless they are all the shards of one job, whose model the arena is, and of
  // its layout: `layout` is layout_digest(arena).
  static StoreResult<RunReader> open(std::vector<std::unique_ptr<ShardStore>> shards, Arena arena, std::string layout);
  // The same from databases on disk, opened for reading only.
  static StoreResult<RunReader> open(const std::vector<std::filesystem::path>& shards, Arena arena, std::string layout);

  [[nodiscard]] const Identity& identity() const { return identity_; }  // of shard 0
  [[nodiscard]] const Ledger& ledger() const { return ledger_.ledger; }
  [[nodiscard]] const std::vector<EvaluationRecord>& evaluations() const { return ledger_.evaluations; }  // ascending
  [[nodiscard]] StoreResult<std::vector<StepStatistics>> statistics(Step from, Step until) const;

  [[nodiscard]] const Arena& arena() const { return arena_; }
  // Of all shards; its lanes are not the job's.
  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] const ShardStore& shard(std::uint32_t index) const { return *shards_.at(index); }
  [[nodiscard]] std::uint32_t shards() const { return static_cast<std::uint32_t>(shards_.size()); }

  // Which snapshot is meant. `missing` if there is none such, with those there are.
  [[nodiscard]] StoreResult<SnapshotId> finished() const;
  [[nodiscard]] StoreResult<SnapshotId> newest() const;  // complete one
  [[nodiscard]] StoreResult<SnapshotId> best() const;
  [[nodiscard]] StoreResult<SnapshotId> at_step(Step step) const;  // of the newest timeline that has one

  // How many tensors of optimizer state the snapshot has.
  [[nodiscard]] StoreResult<std::size_t> states(const SnapshotId& snapshot) const;
  // Visits the content of the parameters in the model's order: no padding, no statistics. A state leaves out parameters
  // of the group `state`, which are not descended. A chunk that is missing, damaged or of another size is an error.
  [[nodiscard]] StoreStatus visit(const SnapshotId& snapshot, TensorKind kind, const Visitor& visitor) const;
  // The same of the moving averages of a job that keeps them: the last tensor of state where there is one, and the
  // content of parameters of the group `state` as it is.
  [[nodiscard]] StoreStatus visit_averages(const SnapshotId& snapshot, const Visitor& visitor) const;
  [[nodiscard]] StoreResult<WeightsDigest> digest(const SnapshotId& snapshot) const;

 private:
  RunReader() = default;
  using KindOfGroup = std::function<std::optional<TensorKind>(Group group)>;  // none: it is left out
  [[nodiscard]] StoreStatus visit_kinds(const SnapshotId& snapshot, const KindOfGroup& kind_of,
                                        const Visitor& visitor) const;
  [[nodiscard]] StoreResult<std::string> state_digest(const SnapshotId& snapshot) const;
  [[nodiscard]] StoreStatus no_such(const std::string& what) const;

  std::vector<std::unique_ptr<ShardStore>> shards_;  // by index
  Placement placement_;                              // of chunks
  Arena arena_;
  Identity identity_;
  LedgerContent ledger_;
};

// Of the end of a finished run.
StoreResult<WeightsDigest> digest_final(const std::vector<std::filesystem::path>& shards, const Arena& arena,
                                        const std::string& layout);

}  // namespace ballast
