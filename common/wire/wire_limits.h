// What a header frame may hold. docs/wire.md repeats these figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/arena/arena.h"
#include "protocol/ids.h"
#include "protocol/metrics.h"

namespace ballast {

namespace wire {

inline constexpr std::uint32_t kMaxShards = 64;
inline constexpr std::uint32_t kMaxLanes = 16;  // of one shard
inline constexpr std::uint32_t kMaxAddresses = kMaxShards * kMaxLanes;
inline constexpr std::uint32_t kMaxPullChunks = 65536;
inline constexpr std::uint32_t kMaxMissingWords = kMaxSlots / 64;
inline constexpr std::uint32_t kMaxSnapshots = 4096;        // named in one list
inline constexpr std::uint32_t kMaxMeasures = 1U << 20U;    // of a LaneReport
inline constexpr std::uint32_t kMaxSums = 1U << 20U;        // of all measures of a LaneReport
inline constexpr std::uint32_t kMaxScales = 1U << 20U;      // of all factors in one list
inline constexpr std::uint32_t kMaxParameters = 1U << 20U;  // of a model
inline constexpr std::uint32_t kMaxReportMarks = kMaxShards * kMaxShardLives;
inline constexpr std::uint32_t kMaxStalenessCounts = 65;  // one for each bit length of a number
inline constexpr std::uint32_t kMaxMetricCounts = 2 + 3 * kMostCountedClasses + 2 * kScoreBins;
inline constexpr std::uint32_t kMaxMetricSums = 3;
inline constexpr std::uint32_t kMaxTraceSources = kMaxAddresses + kMaxSessions + 1;
inline constexpr std::uint32_t kMaxTraceRecords = 1024;  // of one part
inline constexpr std::size_t kMaxTextBytes = 4096;       // of every string but the job
inline constexpr std::size_t kMaxJobBytes = 1U << 20U;   // of the job in a WorkerWelcome

// FlatBuffers tables in one header at most, so that hostile offsets cannot make the verifier work for long.
inline constexpr std::uint32_t kMaxTables = 4096;
inline constexpr std::uint32_t kMaxTableDepth = 8;

}  // namespace wire

// What one receiver is willing to read.
struct WireLimits {
  // Bytes of a header. The default lets every message pass whose lists and strings keep their own limits, except for a
  // LaneReport, whose measures and sums it bounds together; a receiver of small messages only may lower it. A socket
  // may let less through (common/net/socket.h).
  std::size_t header_bytes = 16U << 20U;
  // Bytes of a payload frame.
  std::uint64_t payload_bytes = kMaxChunkBytes;
};

namespace wire {

// The largest messages: a Status of all sessions, a WorkerWelcome of all lanes, a Plan and a LaneReport without
// measures, with every string at its limit and a generous allowance for tables, offsets, padding and structs.
inline constexpr std::size_t kAllowance = 512;
static_assert(kMaxSessions * (3 * kMaxTextBytes + kAllowance) + (7 + 2 * kMaxArithmetics) * kMaxTextBytes <
              WireLimits{}.header_bytes);
static_assert(kMaxJobBytes + kMaxAddresses * (kMaxTextBytes + kAllowance) + 4 * kMaxTextBytes <
              WireLimits{}.header_bytes);
static_assert(kMaxPlanned * kAllowance + kMaxScales * sizeof(float) + 2 * kMaxSnapshots * kAllowance <
              WireLimits{}.header_bytes);
static_assert((kMaxPlanned + kMaxSessions + 3 * kMaxSnapshots) * kAllowance / 4 +
                  (kMaxCoveredRanges + kMaxReportMarks) * sizeof(JournalMark) + kMaxScales * sizeof(float) +
                  2 * kMaxTextBytes <
              WireLimits{}.header_bytes);
static_assert(kMaxSessions + 2 < kMaxTables && kMaxAddresses + 2 < kMaxTables);

}  // namespace wire

}  // namespace ballast
