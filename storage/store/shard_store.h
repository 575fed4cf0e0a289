// A shard's database in the words of the job: whose it is, its timeline, its snapshots, the end, and the lead's ledger.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/store/records.h"
#include "storage/store/store.h"

namespace ballast {

// The folder of a shard's database inside a run's folder: "shard-0", "shard-1", ...
std::filesystem::path shard_database(const std::filesystem::path& run_folder, std::uint32_t shard);

// The databases of a run, by shard index from 0; `missing` if there is none.
StoreResult<std::vector<std::filesystem::path>> find_shard_databases(const std::filesystem::path& run_folder);

// A chunk of a snapshot. Floats; every state has as many as the weights.
struct ChunkTensors {
  std::vector<float> weights;
  std::vector<std::vector<float>> states;  // of the optimizer, in its order; none for chunks that are not descended
};

// What there is of a snapshot in one database; whether it is complete says the ledger.
struct SnapshotListing {
  SnapshotId id;
  std::size_t chunks = 0;   // whose weights are there
  std::uint64_t bytes = 0;  // of all its records
};

// What the ledger holds beside the statistics, which are many.
struct LedgerContent {
  Ledger ledger;                              // an empty one if none was written
  std::vector<EvaluationRecord> evaluations;  // ascending by step
};

// Thread-safe, as its Store is. Error texts name the database's path, the key and the remedy.
class ShardStore {
 public:
  explicit ShardStore(std::unique_ptr<Store> store);

  // Makes the database this shard's. A fresh one takes the identity durably. One that has an identity is accepted if
  // job, shard, shard count, layout and spec digest agree (the effective job may differ where the digest does not see
  // it). Otherwise it is refused as `mismatch`, naming everything that differs, and stays as it is.
  StoreStatus claim(const Identity& identity);
  [[nodiscard]] StoreResult<std::optional<Identity>> identity() const;

  // Counts the process that has opened the database, and gives a new database its id, which is `fresh`. Durable when it
  // returns. Once, after claim().
  StoreResult<DatabaseLife> begin_life(std::uint64_t fresh);

  // Durable when it returns.
  StoreStatus write_timeline(const TimelineRecord& timeline);
  [[nodiscard]] StoreResult<std::optional<TimelineRecord>> timeline() const;

  // A chunk of a snapshot, weights and states together or not at all; at most kMaxStates of them. Chunks come in any
  // order and from any thread; sync() then makes those that were written before it durable.
  StoreStatus write_chunk(const SnapshotId& snapshot, ChunkId chunk, std::span<const float> weights,
                          std::span<const std::span<const float>> states);
  StoreStatus sync();
  // sync(), with the word that all of the shard's part of the snapshot is there.
  StoreStatus seal(const SnapshotId& snapshot);
  // Of which that was said, and which are still there; ascending. Cheap.
  [[nodiscard]] StoreResult<std::vector<SnapshotId>> sealed() const;
  // `corrupt` if a tensor is missing, damaged, or has not `elements` floats.
  [[nodiscard]] StoreResult<ChunkTensors> read_chunk(const SnapshotId& snapshot, ChunkId chunk, std::size_t elements,
                                                     std::size_t states) const;
  [[nodiscard]] StoreResult<std::vector<float>> read_tensor(const TensorKey& key, std::size_t elements) const;

  // Deletes every snapshot that is older than the newest of `keep` and not in it; nothing if `keep` is empty. The cost
  // does not depend on their size. The space comes back a little later, without holding up writers.
  StoreStatus retain(std::span<const SnapshotId> keep);
  // Of which there is at least one tensor; ascending. Cheap.
  [[nodiscard]] StoreResult<std::vector<SnapshotId>> snapshots() const;
  // The same with sizes. Reads every snapshot.
  [[nodiscard]] StoreResult<std::vector<SnapshotListing>> list_snapshots() const;
  // How many optimizer states the snapshot has here: as many as the first chunk that has any. Cheap.
  [[nodiscard]] StoreResult<std::size_t> states(const SnapshotId& snapshot) const;

  // The shard's end: the job finished with this snapshot. Durable when it returns.
  StoreStatus write_finished(const SnapshotId& end);
  [[nodiscard]] StoreResult<std::optional<SnapshotId>> finished() const;

  // The lead's ledger. A change is durable as a whole when it returns, or did not happen.
  StoreStatus write_ledger(const LedgerChange& change);
  [[nodiscard]] StoreResult<LedgerContent> read_ledger() const;
  // Of the steps in [from, until), ascending; those that are there.
  [[nodiscard]] StoreResult<std::vector<StepStatistics>> read_statistics(Step from, Step until) const;

  // Reads all there is and checks every checksum. `visit`, if given, is told of every record, with what is wrong with
  // it; the result is the first thing found wrong.
  using RecordVisitor = std::function<void(std::string_view key, std::size_t bytes, const StoreStatus& status)>;
  [[nodiscard]] StoreStatus verify(const RecordVisitor& visit = {}) const;

  [[nodiscard]] const std::string& path() const { return store_->path(); }
  // The map below, for whoever copies whole records.
  [[nodiscard]] Store& store() { return *store_; }
  [[nodiscard]] const Store& store() const { return *store_; }

 private:
  StoreStatus put_durably(std::string_view key, std::string record);
  [[nodiscard]] StoreResult<std::size_t> states(const SnapshotId& snapshot, ChunkId chunk) const;
  template <typename T>
  StoreResult<std::optional<T>> read(std::string_view key, StoreResult<T> (*decode)(std::string_view)) const;

  std::unique_ptr<Store> store_;
};

}  // namespace ballast
