#include "storage/store/rocksdb_database.h"

#include <fcntl.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "storage/free_bytes.h"
#include "storage/journal/synced_mark.h"
#include "storage/store/rocksdb_failures.h"
#include "storage/store/rocksdb_limits.h"
#include "storage/store/rocksdb_log.h"

namespace ballast {
namespace {

constexpr const char* kRoomFile = "ROOM";
constexpr std::string_view kFirstManifest = "MANIFEST-000001";
constexpr std::uint64_t kRoomBesideLogs = 1U << 20U;  // for a MANIFEST, and for what is to be written
constexpr int kBackgroundJobs = 2;
constexpr int kOpenFiles = 64;
constexpr std::size_t kManifestBytes = 1U << 20U;  // then a new one is begun

rocksdb::Options make_options(OpenMode mode, const RocksdbMemory& memory) {
  rocksdb::Options options;
  options.create_if_missing = mode == OpenMode::create;
  options.write_buffer_size = kMemtableBytes;
  options.max_write_buffer_number = kMemtables;  // beyond it a write waits for a flush, or fails with it
  options.write_buffer_manager = memory.memtables();
  options.max_total_wal_size = kLogBytes;
  options.max_background_jobs = kBackgroundJobs;
  options.max_open_files = kOpenFiles;
  // A compaction has a block of each such file in memory, and a block is a value: a snapshot that is written faster
  // than it can be compacted would take memory by its size. So it waits; nothing else slows it down.
  options.level0_slowdown_writes_trigger = kUncompactedFiles;
  options.level0_stop_writes_trigger = kUncompactedFiles;
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
  options.info_log = std::make_shared<RocksdbLog>();
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = memory.cache();
  table.cache_index_and_filter_blocks = true;  // or they would be beside it, by the file
  table.checksum = rocksdb::kXXH3;             // Debian's build computes CRC32C in software
  table.format_version = 5;
  // Whoever looks for a key in many files reads the block of that one alone.
  table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Of a database whose CURRENT is gone RocksDB would make a new one, and remove the files of the old. The first MANIFEST
// alone, where nothing was ever synced, is no database yet but a beginning that a full disk or a kill has ended: it
// comes before CURRENT, and RocksDB writes it anew.
bool holds_remains(const std::filesystem::path& path, const SyncedState& synced) {
  const bool has_begun = synced.manifest != 0 || synced.sequence != 0;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(path, failure), end; !failure && at != end; at.increment(failure)) {
    const auto name = at->path().filename().string();
    if ((name.starts_with("MANIFEST-") && (has_begun || name != kFirstManifest)) || name.ends_with(".sst") ||
        (name.ends_with(".log") && name.find_first_not_of("0123456789") == name.size() - 4)) {
      return true;
    }
  }
  return false;
}

StoreStatus prepare_folder(const std::filesystem::path& path, OpenMode mode, const SyncedState& synced) {
  std::error_code failure;
  if (mode == OpenMode::create) {
    std::filesystem::create_directories(path, failure);
    if (failure) {
      return {code_of(failure.value()), path.string() + ": cannot make the folder: " + failure.message()};
    }
  }
  if (mode != OpenMode::read_only) {
    std::filesystem::remove(path / kRoomFile, failure);  // of a process that was killed while it had its name
    failure.clear();
  }
  // CURRENT is what makes a folder a database; without it RocksDB would speak of internals.
  const bool there = std::filesystem::exists(path / "CURRENT", failure);
  if (failure) {
    return {StoreCode::io, path.string() + ": cannot look for a database: " + failure.message()};
  }
  if (!there && holds_remains(path, synced)) {
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

using Opened = StoreResult<std::shared_ptr<RocksdbDatabase>>;

Opened open_to_read(const std::string& path, const SyncedState& synced, const RocksdbMemory& memory) {
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::OpenForReadOnly(make_options(OpenMode::read_only, memory), path, &opened);
  std::unique_ptr<rocksdb::DB> database(opened);
  if (!status.ok()) {
    return explain_open(path, status);
  }
  if (auto checked = check_sequence(path, synced.sequence, database->GetLatestSequenceNumber()); !checked.ok()) {
    return checked;
  }
  return std::make_shared<RocksdbDatabase>(std::move(database), nullptr);
}

Opened open_to_write(const std::string& path, OpenMode mode, const SyncedState& synced, const RocksdbMemory& memory,
                     const std::shared_ptr<WriteStalls>& stalls) {
  auto made = SyncedMark::open(path);
  if (!made.ok()) {
    return made.status();
  }
  auto events = std::make_shared<RocksdbEvents>(std::move(made.value()), stalls);
  auto options = make_options(mode, memory);
  options.listeners.push_back(events);
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::Open(options, path, &opened);
  std::unique_ptr<rocksdb::DB> database(opened);
  if (!status.ok()) {
    return explain_open(path, status);
  }
  if (auto checked = check_sequence(path, synced.sequence, database->GetLatestSequenceNumber()); !checked.ok()) {
    return checked;
  }
  events->mark().cover_manifest();
  return std::make_shared<RocksdbDatabase>(std::move(database), std::move(events));
}

std::uint64_t bytes_of_logs(const std::filesystem::path& path) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(path, failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    const auto size = at->path().extension() == ".log" ? at->file_size(gone) : 0;
    bytes += gone ? 0 : size;
  }
  return bytes;
}

}  // namespace

Opened RocksdbDatabase::open(const std::filesystem::path& path, OpenMode mode, const RocksdbMemory& memory,
                             const std::shared_ptr<WriteStalls>& stalls) {
  const auto synced = SyncedMark::read(path);  // first: its owner may go on while we read
  if (!synced.ok()) {
    return synced.status();
  }
  if (auto prepared = prepare_folder(path, mode, synced.value()); !prepared.ok()) {
    return prepared;
  }
  if (auto checked = SyncedMark::check_manifest(path, synced.value()); !checked.ok()) {
    return checked;
  }
  return mode == OpenMode::read_only ? open_to_read(path.string(), synced.value(), memory)
                                     : open_to_write(path.string(), mode, synced.value(), memory, stalls);
}

RocksdbDatabase::RocksdbDatabase(std::unique_ptr<rocksdb::DB> database, std::shared_ptr<RocksdbEvents> events)
    : events_(std::move(events)),
      database_(std::move(database)),
      reclaimer_(events_ ? std::make_unique<Reclaimer>(*database_) : nullptr) {}

// What is in files is guarded by more checksums than what is in the log.
RocksdbDatabase::~RocksdbDatabase() {
  reclaimer_.reset();
  if (events_ && events_->failure().ok()) {
    database_->Flush(rocksdb::FlushOptions{});
    events_->mark().cover_manifest();
  }
}

StoreStatus check_room_to_open(const std::string& path) {
  const auto needed = bytes_of_logs(path) + kRoomBesideLogs;
  if (free_bytes(path) < needed) {
    return refused_write(path, ENOSPC);
  }
  // A quota shows only in what is tried. The file has no name: it is gone with this process, whatever ends that.
  const auto file = std::filesystem::path(path) / kRoomFile;
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return refused_write(path, errno);
  }
  ::unlink(file.c_str());
  const auto error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(needed));
  ::close(descriptor);
  return error == 0 ? StoreStatus{} : refused_write(path, error);
}

}  // namespace ballast
