// The bytes of a shard's journal: the grammar of its segments and the encodings of their parts. Pure functions.
//
//   journal    := segment*                       files in the folder "journal" of the shard's database
//   name       := hex16(number)                  16 lower-case hexadecimal digits; numbers only grow
//   segment    := header record*
//   header     := "BLJH" u32 format, u32 bytes of the whole header, text job, text spec digest, u32 shard,
//                 u64 timeline, u64 first sequence, u32 count, count * life, checksum of all before it
//   life       := u64 incarnation, u64 begun     the shard's life that began when `begun` was the newest sequence
//   record     := head payload
//   head       := "BLJR" u32 bytes of the head, u32 bytes of the payload, u64 sequence, u64 synced,
//                 u64 timeline, u32 chunk, u64 item, u64 version, f32 learning rate, f32 step size,
//                 f32 second moment root, u8 skip, u64 staleness, u64 session, u32 count, count * base,
//                 checksum of the payload, checksum of all of the head before it
//   base       := u32 shard, u64 incarnation, u64 sequence
//   checksum   := u32, CRC-32C
//
// All numbers are little-endian; a text is its u32 length and its bytes. A value has one encoding only. `synced` is the
// newest sequence known to be synced when the record was written: a damaged record at or below it is damage, and not
// the end of what a power cut let through. Every decoder refuses what it does not know, what is damaged, what is too
// long and what is left over; its error text follows on "FILE: ".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/status.h"
#include "protocol/messages.h"

namespace ballast {

// Of the segments; a journal of another one is refused.
inline constexpr std::uint32_t kJournalFormat = 1;

inline constexpr std::size_t kMaxJournalMarks = kMaxMarks;       // of a contribution
inline constexpr std::size_t kMaxJournalLives = kMaxShardLives;  // of a timeline; a further one is refused
inline constexpr std::size_t kMaxJournalPayload = 1U << 20U;     // as many bytes as a chunk may have
inline constexpr std::size_t kMaxJournalHeaderText = 1U << 12U;  // of the job's name and of its digest

// Position of a record in a shard's journal: 1, 2, ... within a timeline, one order for all of the shard's lanes.
using JournalSequence = std::uint64_t;

// Whose journal it is. Another one's is refused.
struct JournalOwner {
  std::string job;          // its name
  std::string spec_digest;  // of what decides the job's result
  std::uint32_t shard = 0;
  bool operator==(const JournalOwner&) const = default;
};

// An accepted contribution to a chunk, with all that is needed to apply it again.
struct JournalRecord {
  Timeline timeline = 0;
  ChunkId chunk = 0;
  std::uint64_t item = 0;          // the work item's ordinal
  Version version = 0;             // of the chunk before it
  StepFactors factors;             // without scales
  std::vector<JournalMark> marks;  // what the weights that it was computed from rest on; at most kMaxJournalMarks
  std::uint64_t staleness = 0;
  SessionId session = 0;
  std::span<const std::byte> payload;  // not owned; empty only if factors.skip
};

struct JournalHeader {
  JournalOwner owner;
  Timeline timeline = 0;
  JournalSequence first = 1;     // the sequence of the segment's first record
  std::vector<ShardLife> lives;  // of the timeline, oldest first; at most kMaxJournalLives
  bool operator==(const JournalHeader&) const = default;
};

// What stands before a record's payload.
struct JournalHead {
  JournalSequence sequence = 0;
  JournalSequence synced = 0;
  JournalRecord record;  // its payload is empty
  std::uint32_t head_bytes = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t payload_checksum = 0;
};

// A record read back; its payload is a view of the bytes it was read from.
struct DecodedJournalRecord {
  JournalSequence sequence = 0;
  JournalSequence synced = 0;
  JournalRecord record;
};

inline constexpr std::string_view kJournalHeaderMagic = "BLJH";
inline constexpr std::string_view kJournalRecordMagic = "BLJR";

// Fixed bytes of a head and of a header, and the most that they can have.
inline constexpr std::size_t kJournalMarkBytes = 4 + 8 + 8;
inline constexpr std::size_t kMinJournalHead = 4 + 4 + 4 + 8 + 8 + 8 + 4 + 8 + 8 + 4 + 4 + 4 + 1 + 8 + 8 + 4 + 4 + 4;
inline constexpr std::size_t kMaxJournalHead = kMinJournalHead + kMaxJournalMarks * kJournalMarkBytes;
inline constexpr std::size_t kMinJournalHeader = 4 + 4 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + 4;
inline constexpr std::size_t kMaxJournalHeader = kMinJournalHeader + 2 * kMaxJournalHeaderText + 16 * kMaxJournalLives;

std::string journal_segment_name(std::uint64_t number);
// 0 if the name is none of a segment.
std::uint64_t parse_journal_segment_name(std::string_view name);

std::string encode_journal_header(const JournalHeader& header);
// `bytes` begin with the header; what follows it is not looked at. `size` becomes the header's size.
StoreResult<JournalHeader> decode_journal_header(std::string_view bytes, std::size_t& size);

// The head of the record; its payload follows it as it is.
std::string encode_journal_head(const JournalRecord& record, JournalSequence sequence, JournalSequence synced);
// `bytes` begin with the head; what follows it is not looked at.
StoreResult<JournalHead> decode_journal_head(std::string_view bytes);
// Whether these bytes are the payload that belongs to the head.
bool matches(const JournalHead& head, std::span<const std::byte> payload);

// Exactly one whole record.
StoreResult<DecodedJournalRecord> decode_journal_record(std::string_view bytes);

}  // namespace ballast
