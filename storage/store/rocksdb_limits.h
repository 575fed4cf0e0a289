// What a database takes beside its content. Small on purpose: a shard's memory is for its chunks. Values are up to
// 1 MiB, written rarely and read once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast {

inline constexpr std::size_t kMemtableBytes = 16U << 20U;
inline constexpr int kMemtables = 3;
inline constexpr std::uint64_t kLogBytes = 64U << 20U;  // of the write-ahead log, on disk
inline constexpr std::size_t kCacheBytes = 4U << 20U;

}  // namespace ballast
