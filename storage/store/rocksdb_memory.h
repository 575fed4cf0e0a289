// The memory of a RocksDB database: one figure (kDatabaseCacheBytes) for its memtables and for what it keeps of files.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/write_buffer_manager.h>

#include <memory>

#include "storage/store/store.h"

namespace ballast {

// Thread-safe. Outlives openings of the database: what uses it may be asked at any time.
class RocksdbMemory {
 public:
  RocksdbMemory();

  // Of blocks, indexes included; what memtables take is charged to it, and blocks give way.
  [[nodiscard]] const std::shared_ptr<rocksdb::Cache>& cache() const { return cache_; }
  [[nodiscard]] const std::shared_ptr<rocksdb::WriteBufferManager>& memtables() const { return memtables_; }
  [[nodiscard]] StoreMemory used() const;

 private:
  std::shared_ptr<rocksdb::Cache> cache_;
  std::shared_ptr<rocksdb::WriteBufferManager> memtables_;
};

}  // namespace ballast
