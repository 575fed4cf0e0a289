// What a shard's database holds: the grammar of its keys and the encodings of its records. Pure functions.
//
//   key        := "identity" | "timeline" | "finished" | tensor | ledger
//   tensor     := kind "/" hex16(timeline) "/" hex16(step) "/" hex8(chunk)
//   kind       := "momentum" | "weights"
//   ledger     := "ledger/timeline" | "ledger/finished" | "ledger/failure"     (the lead's; shard 0's database only)
//   hexN(n)    := n in N lower-case hexadecimal digits, so that byte order is numeric order
//
//   record     := magic kind version size checksum payload
//   magic      := "BLST"
//   kind       := u16, a RecordKind        version := u16, of this kind's payload
//   size       := u64, bytes of payload    checksum := u32, CRC-32C of everything before it, then of the payload
//
// All numbers are little-endian; a text is its u32 length and its bytes. A tensor's record repeats its key, so that
// bytes under a wrong key are noticed. Every decoder refuses what it does not know, what is damaged, what is too long
// and what is left over; its error text follows on "PATH: key KEY: ".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/ids.h"
#include "common/store/status.h"

namespace ballast {

// Of the database as a whole; in the identity. A database of another one is refused.
inline constexpr std::uint32_t kDatabaseFormat = 1;

enum class RecordKind : std::uint16_t { identity = 1, timeline = 2, tensor = 3, finished = 4, failure = 5 };

// Whose database this is. Written once, before anything else.
struct Identity {
  std::uint32_t format = kDatabaseFormat;
  std::string job;            // its name
  std::string spec_digest;    // of what decides the job's result
  std::string layout_digest;  // of the arena
  std::uint32_t shard = 0;
  std::uint32_t shards = 0;
  std::string effective_job;  // the whole job file with every default filled in, YAML
  bool operator==(const Identity&) const = default;
};

// One history of the job. In a shard: the timeline it serves, with its own incarnation only. In the ledger: with the
// incarnations of all shards, by index.
struct TimelineRecord {
  Timeline number = 0;
  Step base = 0;
  std::vector<Incarnation> incarnations;
  bool operator==(const TimelineRecord&) const = default;
};

// The job's end: every chunk of (timeline, step) is in the database (in the ledger: in every shard's).
struct FinishedRecord {
  Timeline timeline = 0;
  Step step = 0;
  bool operator==(const FinishedRecord&) const = default;
};

// Why the job failed for good.
struct FailureRecord {
  Timeline timeline = 0;
  std::string text;
  bool operator==(const FailureRecord&) const = default;
};

enum class TensorKind : std::uint8_t { weights = 1, momentum = 2 };

struct TensorKey {
  Timeline timeline = 0;
  Step step = 0;
  TensorKind kind = TensorKind::weights;
  ChunkId chunk = 0;
  bool operator==(const TensorKey&) const = default;
};

inline constexpr std::string_view kIdentityKey = "identity";
inline constexpr std::string_view kTimelineKey = "timeline";
inline constexpr std::string_view kFinishedKey = "finished";
inline constexpr std::string_view kLedgerTimelineKey = "ledger/timeline";
inline constexpr std::string_view kLedgerFinishedKey = "ledger/finished";
inline constexpr std::string_view kLedgerFailureKey = "ledger/failure";

std::string_view to_string(TensorKind kind);
std::string tensor_key(const TensorKey& key);
// What the keys of all chunks of (timeline, step, kind) begin with.
std::string tensor_prefix(Timeline timeline, Step step, TensorKind kind);
std::optional<TensorKey> parse_tensor_key(std::string_view key);

std::string encode(const Identity& identity);
std::string encode(const TimelineRecord& timeline);
std::string encode(const FinishedRecord& finished);
std::string encode(const FailureRecord& failure);
std::string encode_tensor(const TensorKey& key, std::span<const std::byte> bytes);

StoreResult<Identity> decode_identity(std::string_view record);
StoreResult<TimelineRecord> decode_timeline(std::string_view record);
StoreResult<FinishedRecord> decode_finished(std::string_view record);
StoreResult<FailureRecord> decode_failure(std::string_view record);
// The tensor's bytes, as a view into `record`, which must be the record of `key`.
StoreResult<std::span<const std::byte>> decode_tensor(const TensorKey& key, std::string_view record);

}  // namespace ballast
