// A RocksDB database that is open, with what works beside it; how it is opened, and what that takes.
#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common/files/status.h"
#include "storage/store/rocksdb_background.h"
#include "storage/store/rocksdb_memory.h"
#include "storage/store/store.h"

namespace ballast {

// Thread-safe. Whoever shares it keeps it open.
class RocksdbDatabase {
 public:
  // As open_rocksdb says.
  static StoreResult<std::shared_ptr<RocksdbDatabase>> open(const std::filesystem::path& path, OpenMode mode,
                                                            const RocksdbMemory& memory,
                                                            const std::shared_ptr<WriteStalls>& stalls);

  // `events` is null where the database is open for reading only.
  RocksdbDatabase(std::unique_ptr<rocksdb::DB> database, std::shared_ptr<RocksdbEvents> events);
  ~RocksdbDatabase();
  RocksdbDatabase(const RocksdbDatabase&) = delete;
  RocksdbDatabase& operator=(const RocksdbDatabase&) = delete;

  [[nodiscard]] rocksdb::DB* operator->() const { return database_.get(); }
  [[nodiscard]] bool is_writable() const { return events_ != nullptr; }
  // Of one that may be written.
  [[nodiscard]] RocksdbEvents& events() const { return *events_; }
  [[nodiscard]] Reclaimer& reclaimer() const { return *reclaimer_; }

 private:
  std::shared_ptr<RocksdbEvents> events_;  // the database has it as well
  std::unique_ptr<rocksdb::DB> database_;
  std::unique_ptr<Reclaimer> reclaimer_;
};

// Whether the database in the folder `path` can be opened again for writing: what its logs hold goes into new files.
StoreStatus check_room_to_open(const std::string& path);

}  // namespace ballast
