// What a header frame may hold. docs/wire.md repeats these figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/arena/arena.h"
#include "common/protocol/ids.h"

namespace ballast {

namespace wire {

inline constexpr std::uint32_t kMaxShards = 64;
inline constexpr std::uint32_t kMaxLanes = 16;  // of one shard
inline constexpr std::uint32_t kMaxAddresses = kMaxShards * kMaxLanes;
inline constexpr std::uint32_t kMaxPullChunks = 65536;
inline constexpr std::uint32_t kMaxMissingWords = kMaxSlots / 64;
inline constexpr std::size_t kMaxTextBytes = 4096;      // of every string but the job
inline constexpr std::size_t kMaxJobBytes = 1U << 20U;  // of the job in a WorkerWelcome

// FlatBuffers tables in one header at most, so that hostile offsets cannot make the verifier work for long.
inline constexpr std::uint32_t kMaxTables = 4096;
inline constexpr std::uint32_t kMaxTableDepth = 8;

}  // namespace wire

// What one receiver is willing to read.
struct WireLimits {
  // Bytes of a header. The default lets every message pass whose lists and strings keep their own limits; a receiver
  // of small messages only may lower it.
  std::size_t header_bytes = 16U << 20U;
  // Bytes of a payload frame.
  std::uint64_t payload_bytes = kMaxChunkBytes;
};

namespace wire {

// The two largest messages: a Status of all sessions and a WorkerWelcome of all lanes, with every string at its limit
// and a generous allowance for tables, offsets and padding.
inline constexpr std::size_t kAllowance = 512;
static_assert(kMaxSessions * (2 * kMaxTextBytes + kAllowance) + 4 * kMaxTextBytes < WireLimits{}.header_bytes);
static_assert(kMaxJobBytes + kMaxAddresses * (kMaxTextBytes + kAllowance) + 4 * kMaxTextBytes <
              WireLimits{}.header_bytes);
static_assert(kMaxSessions + 2 < kMaxTables && kMaxAddresses + 2 < kMaxTables);

}  // namespace wire

}  // namespace ballast
