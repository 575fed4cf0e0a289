#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "storage/store/rocksdb_database.h"
#include "storage/store/rocksdb_failures.h"
#include "storage/store/store.h"

namespace ballast {
namespace {

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::Status add(const WriteBatch::Operation& operation, rocksdb::WriteBatch& batch) {
  const auto key = slice(operation.key);
  switch (operation.kind) {
    case WriteBatch::Kind::put:
      return batch.Put(key, slice(operation.value));
    case WriteBatch::Kind::erase:
      return batch.Delete(key);
    case WriteBatch::Kind::erase_range:
      return operation.key < operation.value ? batch.DeleteRange(key, slice(operation.value)) : rocksdb::Status::OK();
  }
  return rocksdb::Status::InvalidArgument("unknown kind of operation");
}

// Of what RocksDB makes of it: told beforehand, for a buffer that grows is there twice meanwhile.
std::size_t bytes_of(const WriteBatch& batch) {
  constexpr std::size_t kBegin = 12;
  constexpr std::size_t kLengths = 16;  // kind and lengths, at most
  std::size_t bytes = kBegin;
  for (const auto& operation : batch.operations()) {
    bytes += operation.key.size() + operation.value.size() + kLengths;
  }
  return bytes;
}

using Shared = std::shared_ptr<RocksdbDatabase>;

class RocksStore final : public Store {
 public:
  RocksStore(std::string path, RocksdbMemory memory, std::shared_ptr<WriteStalls> stalls, Shared opened)
      : path_(std::move(path)),
        is_writable_(opened->is_writable()),
        memory_(std::move(memory)),
        stalls_(std::move(stalls)),
        opened_(std::move(opened)) {}

  StoreStatus write(const WriteBatch& batch, Sync sync) override {
    if (!is_writable_) {
      return {StoreCode::io, path_ + ": the database is open for reading only"};
    }
    rocksdb::WriteBatch operations(bytes_of(batch));
    for (const auto& operation : batch.operations()) {
      if (const auto added = add(operation, operations); !added.ok()) {
        return translate(path_, "prepare a write", added);
      }
    }
    const auto opened = writable_database();
    if (!opened.ok()) {
      return opened.status();
    }
    const auto& database = *opened.value();
    // Every operation has a sequence number, in the order of the log: ours end at `synced` or later.
    const auto synced = database->GetLatestSequenceNumber() + operations.Count();
    rocksdb::WriteOptions options;
    options.sync = sync == Sync::yes;
    if (const auto status = database->Write(options, &operations); !status.ok()) {
      database.events().fail(status);
      return translate(path_, "write", status);
    }
    database.events().mark().raise(sync == Sync::yes ? synced : 0);
    return {};
  }

  // An empty write syncs every log. DB::SyncWAL would not look whether an earlier write failed, and abort if it did.
  StoreStatus sync() override { return write({}, Sync::yes); }

  [[nodiscard]] StoreResult<std::optional<std::string>> get(std::string_view key) const override {
    const auto opened = database();
    if (!opened.ok()) {
      return opened.status();
    }
    std::string value;
    const auto status = (*opened.value())->Get(rocksdb::ReadOptions{}, slice(key), &value);
    if (status.IsNotFound()) {
      return std::optional<std::string>{};
    }
    if (!status.ok()) {
      return translate(path_, "read key " + std::string(key), status);
    }
    return std::optional<std::string>{std::move(value)};
  }

  [[nodiscard]] StoreStatus scan(std::string_view prefix, const Visitor& visit) const override {
    const auto opened = database();
    if (!opened.ok()) {
      return opened.status();
    }
    const auto at = iterator(opened.value());
    for (at->Seek(slice(prefix)); at->Valid() && view(at->key()).starts_with(prefix); at->Next()) {
      if (!visit(view(at->key()), view(at->value()))) {
        return {};
      }
    }
    const auto status = at->status();
    return status.ok() ? StoreStatus{}
                       : translate(path_, "list the keys that begin with \"" + std::string(prefix) + "\"", status);
  }

  [[nodiscard]] StoreResult<std::optional<std::string>> first_key(std::string_view from) const override {
    const auto opened = database();
    if (!opened.ok()) {
      return opened.status();
    }
    const auto at = iterator(opened.value());
    at->Seek(slice(from));
    if (at->Valid()) {
      return std::optional<std::string>{at->key().ToString()};
    }
    const auto status = at->status();
    return status.ok() ? StoreResult<std::optional<std::string>>(std::optional<std::string>{})
                       : translate(path_, "look for key " + std::string(from), status);
  }

  void reclaim(std::string_view begin, std::string_view end) override {
    if (const auto opened = database(); opened.ok() && is_writable_) {
      opened.value()->reclaimer().add(begin, end);
    }
  }

  [[nodiscard]] StoreStatus verify() const override {
    const auto opened = database();
    if (!opened.ok()) {
      return opened.status();
    }
    const auto status = (*opened.value())->VerifyChecksum(rocksdb::ReadOptions{});
    return status.ok() ? StoreStatus{} : translate(path_, "verify the files", status);
  }

  [[nodiscard]] StoreMemory memory() const override { return memory_.used(); }
  [[nodiscard]] StoreWork work() const override {
    StoreWork found;
    found.slowed_seconds = stalls_->seconds(WriteStall::slowed);
    found.stopped_seconds = stalls_->seconds(WriteStall::stopped);
    found.errors = stalls_->failures();
    // Not by a copy of what is open: a database that is shared is not opened again. So who closes it waits for who
    // asks, and nobody else does.
    std::unique_lock lock(mutex_);
    const std::shared_lock asks(asked_);
    auto* const opened = opened_.get();
    lock.unlock();
    std::string files;
    if (opened != nullptr) {
      (*opened)->GetIntProperty(rocksdb::DB::Properties::kEstimatePendingCompactionBytes, &found.compaction_bytes);
      (*opened)->GetProperty(rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &files);
    }
    std::from_chars(files.data(), files.data() + files.size(), found.level0_files);
    return found;
  }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  using Result = StoreResult<Shared>;

  // Of what is read once: it leaves the cache to what is read again.
  static std::unique_ptr<rocksdb::Iterator> iterator(const Shared& opened) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    return std::unique_ptr<rocksdb::Iterator>((*opened)->NewIterator(options));
  }

  // Whoever has it keeps it open.
  [[nodiscard]] Result database() const {
    const std::scoped_lock lock(mutex_);
    return opened_ ? Result(opened_) : open_again();
  }

  // One that has failed is closed and opened again, once there is room for that and nobody else uses it. DB::Resume()
  // would go on with a log that RocksDB (7.8) aborts to write to, if it failed while nothing was in memory.
  [[nodiscard]] Result writable_database() {
    const std::scoped_lock lock(mutex_);
    if (opened_) {
      const auto failure = opened_->events().failure();
      if (failure.ok()) {
        return opened_;
      }
      if (auto room = check_room_to_open(path_); !room.ok()) {
        return room;
      }
      if (opened_.use_count() > 1) {
        return StoreStatus{StoreCode::busy, path_ + ": cannot write yet: it is opened again after a failure (" +
                                                failure.ToString() +
                                                ") and that waits until a copy of a snapshot, or what else is being "
                                                "read, has been read"};
      }
      const std::scoped_lock closes(asked_);
      opened_.reset();
    }
    return open_again();
  }

  Result open_again() const {
    auto opened = RocksdbDatabase::open(path_, OpenMode::existing, memory_, stalls_);
    if (opened.ok()) {
      opened_ = opened.value();
    }
    return opened;
  }

  const std::string path_;
  const bool is_writable_;
  const RocksdbMemory memory_;  // of whichever is open
  const std::shared_ptr<WriteStalls> stalls_;
  mutable std::mutex mutex_;
  mutable std::shared_mutex asked_;  // after the other: shared by who asks the open one for its properties
  mutable Shared opened_;            // null after a failure, if it could not be opened again
};

}  // namespace

StoreResult<std::unique_ptr<Store>> open_rocksdb(const std::filesystem::path& path, OpenMode mode) {
  RocksdbMemory memory;
  auto stalls = std::make_shared<WriteStalls>();
  auto opened = RocksdbDatabase::open(path, mode, memory, stalls);
  if (!opened.ok()) {
    return opened.status();
  }
  return std::unique_ptr<Store>(
      std::make_unique<RocksStore>(path.string(), std::move(memory), std::move(stalls), std::move(opened.value())));
}

}  // namespace ballast
