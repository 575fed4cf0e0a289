// A shard's database in the words of the job: whose it is, its timeline, its chunks, the end, and the lead's ledger.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/store/records.h"
#include "common/store/store.h"

namespace ballast {

// The folder of a shard's database inside a run's folder: "shard-0", "shard-1", ...
std::filesystem::path shard_database(const std::filesystem::path& run_folder, std::uint32_t shard);

// The databases of a run, by shard index from 0; `missing` if there is none.
StoreResult<std::vector<std::filesystem::path>> find_shard_databases(const std::filesystem::path& run_folder);

// Thread-safe, as its Store is. Error texts name the database's path and the key.
class ShardStore {
 public:
  explicit ShardStore(std::unique_ptr<Store> store);

  // Makes the database this shard's. A fresh one takes the identity durably. One that has an identity is accepted if
  // format, job, shard, shard count, layout and spec digest agree (the effective job may differ where the digest does
  // not see it); otherwise it is refused as `mismatch`, naming everything that differs, and stays as it is.
  StoreStatus claim(const Identity& identity);
  [[nodiscard]] StoreResult<std::optional<Identity>> identity() const;

  // Durable when it returns.
  StoreStatus write_timeline(const TimelineRecord& timeline);
  [[nodiscard]] StoreResult<std::optional<TimelineRecord>> timeline() const;

  // The final weights: all tensors in any order and from any thread, then write_finished, which makes them and the
  // word durable at once. A crash before it leaves tensors without the word.
  StoreStatus write_tensor(const TensorKey& key, std::span<const std::byte> bytes);
  StoreStatus write_finished(const FinishedRecord& finished);
  [[nodiscard]] StoreResult<std::optional<FinishedRecord>> finished() const;

  [[nodiscard]] StoreResult<std::optional<std::string>> read_tensor(const TensorKey& key) const;
  // The chunks there are, ascending.
  [[nodiscard]] StoreResult<std::vector<ChunkId>> list_chunks(Timeline timeline, Step step, TensorKind kind) const;

  // The lead's ledger; each write is durable when it returns.
  StoreStatus write_ledger_timeline(const TimelineRecord& timeline);
  StoreStatus write_ledger_finished(const FinishedRecord& finished);
  StoreStatus write_ledger_failure(const FailureRecord& failure);
  [[nodiscard]] StoreResult<std::optional<TimelineRecord>> ledger_timeline() const;
  [[nodiscard]] StoreResult<std::optional<FinishedRecord>> ledger_finished() const;
  [[nodiscard]] StoreResult<std::optional<FailureRecord>> ledger_failure() const;

  [[nodiscard]] const std::string& path() const { return store_->path(); }

 private:
  StoreStatus put_durably(std::string_view key, std::string record);
  template <typename T>
  StoreResult<std::optional<T>> read(std::string_view key, StoreResult<T> (*decode)(std::string_view)) const;

  std::unique_ptr<Store> store_;
};

}  // namespace ballast
