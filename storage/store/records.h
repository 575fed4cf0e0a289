// What a shard's database holds: the grammar of its keys and the encodings of its records. Pure functions.
//
//   key        := "identity" | "life" | "timeline" | "finished" | tensor | sealed | ledger
//   tensor     := snapshot hex8(chunk) "/" kind                              (format 2: snapshot kind "/" hex8(chunk))
//   snapshot   := "snapshot/" hex16(timeline) "/" hex16(step) "/"
//   kind       := "state-0" | "state-1" | "state-2" | "weights"
//   sealed     := "sealed/" hex16(timeline) "/" hex16(step)
//   ledger     := "ledger"                                                   (the lead's; shard 0's database only)
//               | "ledger/evaluation/" hex16(step) "/" ("test" | "validation")
//               | "ledger/loss/" hex16(step)
//   hexN(n)    := n in N lower-case hexadecimal digits, so that byte order is numeric order
//
//   record     := magic kind version size checksum payload
//   magic      := "BLST"
//   kind       := u16, a RecordKind        version := u16, of this kind's payload
//   size       := u64, bytes of payload    checksum := u32, CRC-32C of everything before it, then of the payload
//
// A snapshot is written chunk by chunk, and its keys sort as it is written: each of the database's tables holds a range
// of chunks of its own, and a chunk is read from one table. Format 2 had the kind first, so that every table spanned
// the whole snapshot. Its snapshots stay where they are until newer ones take their place; all else of it is as it was.
//
// All numbers are little-endian; a text is its u32 length and its bytes. A tensor's record says what it belongs to, so
// that bytes under a wrong key are noticed. Every decoder refuses what it does not know, what is damaged, what is too
// long and what is left over; its error text follows on "PATH: key KEY: ".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/status.h"
#include "protocol/lead/ledger.h"

namespace ballast {

// Of the database as a whole; in the identity. An older one is read, and becomes this one when a shard claims it;
// others are refused.
inline constexpr std::uint32_t kDatabaseFormat = 3;
inline constexpr std::uint32_t kOldestDatabaseFormat = 2;

// Of optimizer state tensors a snapshot may hold, beside the weights.
inline constexpr std::size_t kMaxStates = 3;

// 4 and 5 belonged to format 1.
enum class RecordKind : std::uint16_t {
  identity = 1,
  timeline = 2,
  tensor = 3,
  finished = 6,
  ledger = 7,
  evaluation = 8,
  statistics = 9,
  life = 10,
  sealed = 11,
};

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

// The timeline that a shard last agreed to serve, where it began, and in which of the shard's lives.
struct TimelineRecord {
  Timeline number = 0;
  SnapshotId base;
  Incarnation incarnation = 0;
  bool operator==(const TimelineRecord&) const = default;
};

// The numbers are part of the format.
enum class TensorKind : std::uint8_t { weights = 1, state_0 = 2, state_1 = 3, state_2 = 4 };

// Of the optimizer's state tensor `index`, below kMaxStates.
constexpr TensorKind state_kind(std::size_t index) { return static_cast<TensorKind>(2 + index); }

struct TensorKey {
  SnapshotId snapshot;
  TensorKind kind = TensorKind::weights;
  ChunkId chunk = 0;
  bool operator==(const TensorKey&) const = default;
};

inline constexpr std::string_view kIdentityKey = "identity";
inline constexpr std::string_view kLifeKey = "life";
inline constexpr std::string_view kTimelineKey = "timeline";
inline constexpr std::string_view kFinishedKey = "finished";
inline constexpr std::string_view kLedgerKey = "ledger";
inline constexpr std::string_view kSnapshotPrefix = "snapshot/";
inline constexpr std::string_view kSealedPrefix = "sealed/";
inline constexpr std::string_view kEvaluationPrefix = "ledger/evaluation/";
inline constexpr std::string_view kStatisticsPrefix = "ledger/loss/";

std::string_view to_string(TensorKind kind);
std::string_view to_string(Split split);
// "timeline T, step S", for messages.
std::string describe(const SnapshotId& snapshot);

std::string tensor_key(const TensorKey& key);
// Where format 2 had it.
std::string tensor_key_of_format_2(const TensorKey& key);
// What the keys of all of a snapshot's tensors begin with, of either format, and of one chunk's. Those of format 2 are
// `format_2_prefix` or come after it.
std::string snapshot_prefix(const SnapshotId& snapshot);
std::string format_2_prefix(const SnapshotId& snapshot);
std::string chunk_prefix(const SnapshotId& snapshot, ChunkId chunk);
// Of either format.
std::optional<TensorKey> parse_tensor_key(std::string_view key);
std::string sealed_key(const SnapshotId& snapshot);
std::string evaluation_key(Step step, Split split);
std::string statistics_key(Step step);
// What comes right after all keys that begin with `prefix`.
std::string after_prefix(std::string_view prefix);

std::string encode(const Identity& identity);
std::string encode(const DatabaseLife& life);
std::string encode(const TimelineRecord& timeline);
std::string encode(const Ledger& ledger);
std::string encode(const EvaluationRecord& evaluation);
std::string encode(const StepStatistics& statistics);
std::string encode_finished(const SnapshotId& end);
std::string encode_sealed(const SnapshotId& snapshot);
std::string encode_tensor(const TensorKey& key, std::span<const std::byte> bytes);

StoreResult<Identity> decode_identity(std::string_view record);
StoreResult<DatabaseLife> decode_life(std::string_view record);
StoreResult<TimelineRecord> decode_timeline(std::string_view record);
StoreResult<Ledger> decode_ledger(std::string_view record);
StoreResult<EvaluationRecord> decode_evaluation(std::string_view record);
StoreResult<StepStatistics> decode_statistics(std::string_view record);
StoreResult<SnapshotId> decode_finished(std::string_view record);
StoreResult<SnapshotId> decode_sealed(std::string_view record);
// The tensor's bytes, as a view into `record`, which must be the record of `key`.
StoreResult<std::span<const std::byte>> decode_tensor(const TensorKey& key, std::string_view record);

// Whether `record` is the whole and undamaged record that belongs under `key`; what is wrong with it otherwise. For
// whoever copies or checks a database without using what is in it.
StoreStatus check_record(std::string_view key, std::string_view record);

}  // namespace ballast
