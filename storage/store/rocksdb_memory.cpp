#include "storage/store/rocksdb_memory.h"

#include <algorithm>

#include "storage/store/rocksdb_limits.h"

namespace ballast {
namespace {

constexpr std::size_t kStep = 1U << 20U;  // memtables are charged in steps of a quarter of that

}  // namespace

// One part: by default there are many, each for less than one block of ours. And no stalls of the WriteBufferManager:
// in RocksDB 7.8 a write that waits so is not woken when the flush that it waits for fails, on a full disk say, and
// nobody could close the database any more. max_write_buffer_number holds writes up as well, and ends with an error.
RocksdbMemory::RocksdbMemory()
    : cache_(rocksdb::NewLRUCache(kDatabaseCacheBytes - kStep, 0)),
      memtables_(std::make_shared<rocksdb::WriteBufferManager>(kDatabaseCacheBytes, cache_, false)) {}

// What is charged for memtables goes up and down by itself: the three are of one moment if it has stood still
// meanwhile.
StoreMemory RocksdbMemory::used() const {
  constexpr int kTries = 8;
  StoreMemory found;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::uint64_t charged = memtables_->dummy_entries_in_cache_usage();
    found.written = memtables_->memory_usage();
    const std::uint64_t all = cache_->GetUsage();
    found.read = all - std::min(all, charged);
    if (memtables_->dummy_entries_in_cache_usage() == charged) {
      break;
    }
  }
  return found;
}

}  // namespace ballast
