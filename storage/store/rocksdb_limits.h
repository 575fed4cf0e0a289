// What a database takes beside its content. Small on purpose: a shard's memory is for its chunks. Values are up to
// 1 MiB, written rarely and read once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast {

// A memtable is closed when it has so much, by the batch that took it there: of at most kBatchBytes. As many as
// kMemtables wait to be written into files; then writes wait as well.
inline constexpr std::size_t kMemtableBytes = 12U << 20U;
inline constexpr int kMemtables = 2;
inline constexpr std::uint64_t kLogBytes = 64U << 20U;  // of the write-ahead log, on disk
// A chunk with all the optimizer's state that may be kept of it, and what RocksDB has beside the bytes.
inline constexpr std::size_t kBatchBytes = (4U << 20U) + (512U << 10U);
// Files of a memtable each that wait to be compacted, before writes wait.
inline constexpr int kUncompactedFiles = 12;
// Memtables, one more that somebody reads while it is written into its file, and blocks of files: whatever memtables
// leave is the cache's.
inline constexpr std::size_t kDatabaseCacheBytes = 52U << 20U;
static_assert((kMemtables + 1) * (kMemtableBytes + kBatchBytes) + (2U << 20U) <= kDatabaseCacheBytes);
// Beside it, and not counted by RocksDB: a block, which is a value of 1 MiB, of each file that is compacted at once; a
// batch, as it is given and as RocksDB has it; buffers of files that are written, and what is known of open ones.
inline constexpr std::size_t kDatabaseBesideBytes =
    (std::size_t{kUncompactedFiles + kMemtables + 1} << 20U) + 2 * kBatchBytes + (4U << 20U);
inline constexpr std::size_t kDatabaseBytes = kDatabaseCacheBytes + kDatabaseBesideBytes;

}  // namespace ballast
