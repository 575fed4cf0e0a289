#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <limits>

#include "common/store/rocksdb_background.h"
#include "common/store/rocksdb_failures.h"
#include "common/store/rocksdb_limits.h"
#include "common/store/store.h"
#include "common/store/synced_mark.h"

namespace ballast {
namespace {

constexpr int kBackgroundJobs = 2;
constexpr int kOpenFiles = 64;
constexpr std::size_t kManifestBytes = 1U << 20U;  // then a new one is begun

rocksdb::Options make_options(OpenMode mode) {
  rocksdb::Options options;
  options.create_if_missing = mode == OpenMode::create;
  options.write_buffer_size = kMemtableBytes;
  options.max_write_buffer_number = kMemtables;
  options.max_total_wal_size = kLogBytes;
  options.max_background_jobs = kBackgroundJobs;
  options.max_open_files = kOpenFiles;
  // Files that wait to be compacted never hold up a snapshot: hardly anything is read.
  options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
  options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  options.compression = rocksdb::kNoCompression;  // weights hardly compress
  options.paranoid_checks = true;
  // A torn record at the log's end is a write that was never synced; damage before it is an error, not a shorter log.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.track_and_verify_wals_in_manifest = true;  // a log that is missing or too short is an error
  options.allow_fallocate = false;                   // a log takes the space it needs, not that of a whole memtable
  options.max_manifest_file_size = kManifestBytes;
  options.stats_dump_period_sec = 0;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = 4;
  options.max_log_file_size = 1U << 20U;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  table.checksum = rocksdb::kXXH3;  // Debian's build computes CRC32C in software
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

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

class RocksStore final : public Store {
 public:
  // `background` is null where the database is open for reading only.
  RocksStore(std::string path, std::unique_ptr<rocksdb::DB> database, std::shared_ptr<Background> background)
      : path_(std::move(path)),
        background_(std::move(background)),
        database_(std::move(database)),
        reclaimer_(background_ ? std::make_unique<Reclaimer>(*database_) : nullptr) {}

  // What is in files is guarded by more checksums than what is in the log.
  ~RocksStore() override {
    reclaimer_.reset();
    if (background_) {
      database_->Flush(rocksdb::FlushOptions{});
      background_->mark().cover_manifest();
    }
  }

  StoreStatus write(const WriteBatch& batch, Sync sync) override {
    if (!background_) {
      return {StoreCode::io, path_ + ": the database is open for reading only"};
    }
    rocksdb::WriteBatch operations;
    for (const auto& operation : batch.operations()) {
      if (const auto added = add(operation, operations); !added.ok()) {
        return translate(path_, "prepare a write", added);
      }
    }
    if (const auto resumed = resume_after_failure(); !resumed.ok()) {
      return translate(path_, "write", resumed);
    }
    // Every operation has a sequence number, in the order of the log: ours end at `synced` or later.
    const auto synced = database_->GetLatestSequenceNumber() + operations.Count();
    rocksdb::WriteOptions options;
    options.sync = sync == Sync::yes;
    const auto status = database_->Write(options, &operations);
    return concluded(status, "write", sync == Sync::yes ? synced : 0);
  }

  // An empty write syncs every log. DB::SyncWAL would not look whether an earlier write failed, and abort if it did.
  StoreStatus sync() override { return write({}, Sync::yes); }

  [[nodiscard]] StoreResult<std::optional<std::string>> get(std::string_view key) const override {
    std::string value;
    const auto status = database_->Get(rocksdb::ReadOptions{}, slice(key), &value);
    if (status.IsNotFound()) {
      return std::optional<std::string>{};
    }
    if (!status.ok()) {
      return translate(path_, "read key " + std::string(key), status);
    }
    return std::optional<std::string>{std::move(value)};
  }

  [[nodiscard]] StoreStatus scan(std::string_view prefix, const Visitor& visit) const override {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(options));
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
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(options));
    at->Seek(slice(from));
    if (at->Valid()) {
      return std::optional<std::string>{at->key().ToString()};
    }
    const auto status = at->status();
    return status.ok() ? StoreResult<std::optional<std::string>>(std::optional<std::string>{})
                       : translate(path_, "look for key " + std::string(from), status);
  }

  void reclaim(std::string_view begin, std::string_view end) override {
    if (reclaimer_) {
      reclaimer_->add(begin, end);
    }
  }

  [[nodiscard]] StoreStatus verify() const override {
    const auto status = database_->VerifyChecksum(rocksdb::ReadOptions{});
    return status.ok() ? StoreStatus{} : translate(path_, "verify the files", status);
  }

  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  // A write that failed for want of space closes a database for writing. RocksDB opens it again when asked, once there
  // is space; until then its log must not be touched (it would abort).
  rocksdb::Status resume_after_failure() {
    const std::scoped_lock lock(resuming_);
    if (!background_->failed().exchange(false)) {
      return rocksdb::Status::OK();
    }
    auto status = database_->Resume();
    if (!status.ok()) {
      background_->failed() = true;
    }
    return status;
  }

  StoreStatus concluded(const rocksdb::Status& status, const char* what, std::uint64_t synced) {
    if (!status.ok()) {
      background_->failed() = true;
      return translate(path_, what, status);
    }
    background_->mark().raise(synced);
    return {};
  }

  std::string path_;
  std::shared_ptr<Background> background_;  // the database has it as well
  std::unique_ptr<rocksdb::DB> database_;
  std::unique_ptr<Reclaimer> reclaimer_;
  std::mutex resuming_;
};

// Of a database whose CURRENT is gone RocksDB would make a new one, and remove the files of the old.
bool holds_remains(const std::filesystem::path& path) {
  std::error_code failure;
  for (std::filesystem::directory_iterator at(path, failure), end; !failure && at != end; at.increment(failure)) {
    const auto name = at->path().filename().string();
    if (name.starts_with("MANIFEST-") || name.ends_with(".sst")) {
      return true;
    }
  }
  return false;
}

StoreStatus prepare_folder(const std::filesystem::path& path, OpenMode mode) {
  std::error_code failure;
  if (mode == OpenMode::create) {
    std::filesystem::create_directories(path, failure);
    if (failure) {
      return {StoreCode::io, path.string() + ": cannot make the folder: " + failure.message()};
    }
  }
  // CURRENT is what makes a folder a database; without it RocksDB would speak of internals.
  const bool there = std::filesystem::exists(path / "CURRENT", failure);
  if (failure) {
    return {StoreCode::io, path.string() + ": cannot look for a database: " + failure.message()};
  }
  if (!there && holds_remains(path)) {
    return {StoreCode::corrupt,
            path.string() + ": the file CURRENT is missing from the database; " + std::string(kDamageRemedy)};
  }
  return there || mode == OpenMode::create
             ? StoreStatus{}
             : StoreStatus{StoreCode::missing, path.string() + ": there is no database here"};
}

StoreStatus check_sequence(const std::string& path, std::uint64_t synced, std::uint64_t found) {
  if (synced <= found) {
    return {};
  }
  return {StoreCode::corrupt,
          path + ": the database has lost writes that were durable (its log or its MANIFEST was cut " +
              "short: it ends at operation " + std::to_string(found) + ", and " + std::to_string(synced) +
              " were synced, says the file " + kSyncedMarkFile + "); " + std::string(kDamageRemedy)};
}

StoreResult<std::unique_ptr<Store>> open_to_read(const std::string& path, const SyncedState& synced) {
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::OpenForReadOnly(make_options(OpenMode::read_only), path, &opened);
  std::unique_ptr<rocksdb::DB> database(opened);
  if (!status.ok()) {
    return explain_open(path, status);
  }
  if (auto checked = check_sequence(path, synced.sequence, database->GetLatestSequenceNumber()); !checked.ok()) {
    return checked;
  }
  return std::unique_ptr<Store>(std::make_unique<RocksStore>(path, std::move(database), nullptr));
}

StoreResult<std::unique_ptr<Store>> open_to_write(const std::string& path, OpenMode mode, const SyncedState& synced) {
  auto made = SyncedMark::open(path);
  if (!made.ok()) {
    return made.status();
  }
  const auto background = std::make_shared<Background>(std::move(made.value()));
  auto options = make_options(mode);
  options.listeners.push_back(background);
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::Open(options, path, &opened);
  std::unique_ptr<rocksdb::DB> database(opened);
  if (!status.ok()) {
    return explain_open(path, status);
  }
  if (auto checked = check_sequence(path, synced.sequence, database->GetLatestSequenceNumber()); !checked.ok()) {
    return checked;
  }
  background->mark().cover_manifest();
  return std::unique_ptr<Store>(std::make_unique<RocksStore>(path, std::move(database), background));
}

}  // namespace

StoreResult<std::unique_ptr<Store>> open_rocksdb(const std::filesystem::path& path, OpenMode mode) {
  if (auto prepared = prepare_folder(path, mode); !prepared.ok()) {
    return prepared;
  }
  const auto synced = SyncedMark::read(path);  // first: its owner may go on while we read
  if (!synced.ok()) {
    return synced.status();
  }
  if (auto checked = SyncedMark::check_manifest(path, synced.value()); !checked.ok()) {
    return checked;
  }
  return mode == OpenMode::read_only ? open_to_read(path.string(), synced.value())
                                     : open_to_write(path.string(), mode, synced.value());
}

}  // namespace ballast
