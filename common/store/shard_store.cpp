#include "common/store/shard_store.h"

#include <utility>

#include "common/store/job_difference.h"

namespace ballast {
namespace {

StoreStatus at_key(const Store& store, std::string_view key, const StoreStatus& status) {
  return {status.code(), store.path() + ": key " + std::string(key) + ": " + status.text()};
}

std::string show(const std::string& value) { return std::string(1, '"').append(value).append(1, '"'); }
std::string show(std::uint32_t value) { return std::to_string(value); }

std::string describe_difference(const Identity& there, const Identity& here) {
  std::string text;
  const auto differ = [&text](const char* what, const auto& in_database, const auto& wanted) {
    if (in_database != wanted) {
      text.append(text.empty() ? "" : "; ").append(what).append(": ");
      text.append(show(in_database)).append(" there, ").append(show(wanted)).append(" here");
    }
  };
  differ("job", there.job, here.job);
  differ("shard index", there.shard, here.shard);
  differ("shard count", there.shards, here.shards);
  if (there.spec_digest != here.spec_digest || there.layout_digest != here.layout_digest) {
    const auto keys = describe_job_difference(there.effective_job, here.effective_job);
    if (!keys.empty()) {
      text += (text.empty() ? "" : "; ") + keys;
    }
  }
  differ("layout of the model", there.layout_digest, here.layout_digest);
  differ("digest of the job", there.spec_digest, here.spec_digest);
  return text;
}

}  // namespace

std::filesystem::path shard_database(const std::filesystem::path& run_folder, std::uint32_t shard) {
  return run_folder / ("shard-" + std::to_string(shard));
}

StoreResult<std::vector<std::filesystem::path>> find_shard_databases(const std::filesystem::path& run_folder) {
  std::vector<std::filesystem::path> found;
  std::error_code failure;
  while (std::filesystem::exists(shard_database(run_folder, static_cast<std::uint32_t>(found.size())), failure)) {
    found.push_back(shard_database(run_folder, static_cast<std::uint32_t>(found.size())));
  }
  if (failure) {
    return StoreStatus{StoreCode::io, run_folder.string() + ": cannot look for shards: " + failure.message()};
  }
  if (found.empty()) {
    return StoreStatus{StoreCode::missing, run_folder.string() +
                                               ": there is no folder shard-0 here; name the folder "
                                               "that a run made"};
  }
  return found;
}

ShardStore::ShardStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

template <typename T>
StoreResult<std::optional<T>> ShardStore::read(std::string_view key, StoreResult<T> (*decode)(std::string_view)) const {
  const auto record = store_->get(key);
  if (!record.ok()) {
    return record.status();
  }
  if (!record.value()) {
    return std::optional<T>{};
  }
  auto value = decode(*record.value());
  if (!value.ok()) {
    return at_key(*store_, key, value.status());
  }
  return std::optional<T>{std::move(value.value())};
}

StoreStatus ShardStore::put_durably(std::string_view key, std::string record) {
  return store_->write(WriteBatch{}.put(std::string(key), std::move(record)), Sync::yes);
}

// ---- identity

StoreStatus ShardStore::claim(const Identity& identity) {
  const auto existing = this->identity();
  if (!existing.ok()) {
    return existing.status();
  }
  if (existing.value()) {
    const auto difference = describe_difference(*existing.value(), identity);
    return difference.empty() ? StoreStatus{}
                              : StoreStatus{StoreCode::mismatch,
                                            store_->path() + ": this database belongs to another job (" + difference +
                                                "); use another run folder, or the "
                                                "job file it was made with"};
  }
  bool empty = true;
  const auto scanned = store_->scan("", [&empty](std::string_view, std::string_view) { return empty = false; });
  if (!scanned.ok()) {
    return scanned;
  }
  if (!empty) {
    return {
        StoreCode::mismatch,
        store_->path() + ": this database holds something but no identity: it is not a shard's; use another folder"};
  }
  return put_durably(kIdentityKey, encode(identity));
}

StoreResult<std::optional<Identity>> ShardStore::identity() const { return read(kIdentityKey, decode_identity); }

// ---- timeline, end

StoreStatus ShardStore::write_timeline(const TimelineRecord& timeline) {
  return put_durably(kTimelineKey, encode(timeline));
}
StoreResult<std::optional<TimelineRecord>> ShardStore::timeline() const { return read(kTimelineKey, decode_timeline); }

StoreStatus ShardStore::write_finished(const FinishedRecord& finished) {
  return put_durably(kFinishedKey, encode(finished));
}
StoreResult<std::optional<FinishedRecord>> ShardStore::finished() const { return read(kFinishedKey, decode_finished); }

// ---- tensors

StoreStatus ShardStore::write_tensor(const TensorKey& key, std::span<const std::byte> bytes) {
  return store_->write(WriteBatch{}.put(tensor_key(key), encode_tensor(key, bytes)), Sync::no);
}

StoreResult<std::optional<std::string>> ShardStore::read_tensor(const TensorKey& key) const {
  const auto name = tensor_key(key);
  auto record = store_->get(name);
  if (!record.ok() || !record.value()) {
    return record;
  }
  const auto bytes = decode_tensor(key, *record.value());
  if (!bytes.ok()) {
    return at_key(*store_, name, bytes.status());
  }
  // The tensor is the record's tail: what is before it goes, without a second buffer.
  record.value()->erase(0, record.value()->size() - bytes.value().size());
  return record;
}

StoreResult<std::vector<ChunkId>> ShardStore::list_chunks(Timeline timeline, Step step, TensorKind kind) const {
  std::vector<ChunkId> chunks;
  const auto scanned = store_->scan(tensor_prefix(timeline, step, kind), [&chunks](std::string_view key, auto) {
    if (const auto parsed = parse_tensor_key(key)) {
      chunks.push_back(parsed->chunk);
    }
    return true;
  });
  if (!scanned.ok()) {
    return scanned;
  }
  return chunks;
}

// ---- ledger

StoreStatus ShardStore::write_ledger_timeline(const TimelineRecord& timeline) {
  return put_durably(kLedgerTimelineKey, encode(timeline));
}
StoreStatus ShardStore::write_ledger_finished(const FinishedRecord& finished) {
  return put_durably(kLedgerFinishedKey, encode(finished));
}
StoreStatus ShardStore::write_ledger_failure(const FailureRecord& failure) {
  return put_durably(kLedgerFailureKey, encode(failure));
}
StoreResult<std::optional<TimelineRecord>> ShardStore::ledger_timeline() const {
  return read(kLedgerTimelineKey, decode_timeline);
}
StoreResult<std::optional<FinishedRecord>> ShardStore::ledger_finished() const {
  return read(kLedgerFinishedKey, decode_finished);
}
StoreResult<std::optional<FailureRecord>> ShardStore::ledger_failure() const {
  return read(kLedgerFailureKey, decode_failure);
}

}  // namespace ballast
