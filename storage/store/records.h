// What a shard's database holds: the encodings of its records (their keys: record_keys.h). Pure functions.
//
//   record     := magic kind version size checksum payload
//   magic      := "BLST"
//   kind       := u16, a RecordKind        version := u16, of this kind's payload
//   size       := u64, bytes of payload    checksum := u32, CRC-32C of everything before it, then of the payload
//
// All numbers are little-endian; a text is its u32 length and its bytes. A tensor's record says what it belongs to, so
// that bytes under a wrong key are noticed. Every decoder refuses what it does not know, what is damaged, what is too
// long and what is left over; its error text follows on "PATH: key KEY: ".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/status.h"
#include "protocol/ledger.h"
#include "storage/store/record_keys.h"

namespace ballast {

// Of the database as a whole; in the identity. Others are refused.
inline constexpr std::uint32_t kDatabaseFormat = 3;

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
  held = 12,
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

std::string encode(const Identity& identity);
std::string encode(const DatabaseLife& life);
std::string encode(const TimelineRecord& timeline);
// All but `held`, which has a record of its own: programs that do not know of it read the ledger as ever.
std::string encode(const Ledger& ledger);
// The timeline whose ledger holds.
std::string encode_held(Timeline timeline);
std::string encode(const EvaluationRecord& evaluation);
std::string encode(const StepStatistics& statistics);
std::string encode_finished(const SnapshotId& end);
std::string encode_sealed(const SnapshotId& snapshot);
std::string encode_tensor(const TensorKey& key, std::span<const std::byte> bytes);

StoreResult<Identity> decode_identity(std::string_view record);
StoreResult<DatabaseLife> decode_life(std::string_view record);
StoreResult<TimelineRecord> decode_timeline(std::string_view record);
StoreResult<Ledger> decode_ledger(std::string_view record);
StoreResult<Timeline> decode_held(std::string_view record);
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
