#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "common/store/store.h"

namespace ballast {
namespace {

// Small on purpose: a shard's memory is for its chunks. Values are up to 1 MiB, written rarely and read once.
constexpr std::size_t kMemtableBytes = 16U << 20U;
constexpr std::uint64_t kLogBytes = 64U << 20U;
constexpr std::size_t kCacheBytes = 4U << 20U;
constexpr int kBackgroundJobs = 2;
constexpr int kOpenFiles = 64;

rocksdb::Options make_options(OpenMode mode) {
  rocksdb::Options options;
  options.create_if_missing = mode == OpenMode::create;
  options.write_buffer_size = kMemtableBytes;
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = kLogBytes;
  options.max_background_jobs = kBackgroundJobs;
  options.max_open_files = kOpenFiles;
  options.compression = rocksdb::kNoCompression;  // weights hardly compress
  options.paranoid_checks = true;
  // A torn record at the log's end is a write that was never synced; damage before it is an error, not a shorter log.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
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

StoreStatus translate(const std::string& path, const std::string& what, const rocksdb::Status& status) {
  const auto code = status.IsCorruption() ? StoreCode::corrupt : StoreCode::io;
  return {code, path + ": cannot " + what + ": " + status.ToString()};
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// The process that holds a lock on `file`, from /proc/locks; 0 if the system does not tell. Opening the file and asking
// by fcntl would give up the lock where this very process holds it.
long lock_owner(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    return 0;
  }
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, place;
    long owner = 0;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    unsigned long inode = 0;
    if ((words >> number >> kind >> strictness >> access >> owner >> place) && kind == "POSIX" &&
        std::sscanf(place.c_str(), "%x:%x:%lu", &device_major, &device_minor, &inode) == 3 && inode == info.st_ino &&
        device_major == major(info.st_dev) && device_minor == minor(info.st_dev)) {
      return owner;
    }
  }
  return 0;
}

StoreStatus explain_open(const std::string& path, const rocksdb::Status& status) {
  const auto text = status.ToString();
  if (text.find("lock hold by current process") != std::string::npos) {
    return {StoreCode::in_use, path + ": this process has the database open already"};
  }
  if (status.IsIOError() && text.find("/LOCK") != std::string::npos && text.find("lock file") != std::string::npos) {
    const auto owner = lock_owner(path + "/LOCK");
    return {StoreCode::in_use, path + ": another process " +
                                   (owner > 0 ? "(pid " + std::to_string(owner) + ") " : std::string()) +
                                   "has the database open; stop it, or use another run folder"};
  }
  return translate(path, "open the database", status);
}

class RocksStore final : public Store {
 public:
  RocksStore(std::string path, std::unique_ptr<rocksdb::DB> database, bool read_only)
      : path_(std::move(path)), database_(std::move(database)), read_only_(read_only) {}

  StoreStatus write(const WriteBatch& batch, Sync sync) override {
    if (read_only_) {
      return {StoreCode::io, path_ + ": the database is open for reading only"};
    }
    rocksdb::WriteBatch operations;
    for (const auto& operation : batch.operations()) {
      const auto added = operation.value ? operations.Put(slice(operation.key), slice(*operation.value))
                                         : operations.Delete(slice(operation.key));
      if (!added.ok()) {
        return translate(path_, "prepare a write", added);
      }
    }
    rocksdb::WriteOptions options;
    options.sync = sync == Sync::yes;
    const auto status = database_->Write(options, &operations);
    return status.ok() ? StoreStatus{} : translate(path_, "write", status);
  }

  [[nodiscard]] StoreResult<std::optional<std::string>> get(std::string_view key) const override {
    std::string value;
    const auto status = database_->Get(rocksdb::ReadOptions{}, slice(key), &value);
    if (status.IsNotFound()) {
      return std::optional<std::string>{};
    }
    if (!status.ok()) {
      return translate(path_, "read " + std::string(key), status);
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
    return status.ok() ? StoreStatus{} : translate(path_, "list keys", status);
  }

  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  std::string path_;
  std::unique_ptr<rocksdb::DB> database_;
  bool read_only_;
};

StoreStatus prepare_folder(const std::filesystem::path& path, OpenMode mode) {
  std::error_code failure;
  if (mode == OpenMode::create) {
    std::filesystem::create_directories(path, failure);
    if (failure) {
      return {StoreCode::io, path.string() + ": cannot make the folder: " + failure.message()};
    }
    return {};
  }
  // CURRENT is what makes a folder a database; without it RocksDB would speak of internals.
  const bool there = std::filesystem::exists(path / "CURRENT", failure);
  if (failure) {
    return {StoreCode::io, path.string() + ": cannot look for a database: " + failure.message()};
  }
  return there ? StoreStatus{} : StoreStatus{StoreCode::missing, path.string() + ": there is no database here"};
}

}  // namespace

StoreResult<std::unique_ptr<Store>> open_rocksdb(const std::filesystem::path& path, OpenMode mode) {
  if (auto prepared = prepare_folder(path, mode); !prepared.ok()) {
    return prepared;
  }
  const auto name = path.string();
  const bool read_only = mode == OpenMode::read_only;
  rocksdb::DB* opened = nullptr;
  const auto status = read_only ? rocksdb::DB::OpenForReadOnly(make_options(mode), name, &opened)
                                : rocksdb::DB::Open(make_options(mode), name, &opened);
  if (!status.ok()) {
    return explain_open(name, status);
  }
  return std::unique_ptr<Store>(std::make_unique<RocksStore>(name, std::unique_ptr<rocksdb::DB>(opened), read_only));
}

}  // namespace ballast
