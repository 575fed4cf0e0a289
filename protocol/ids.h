// The identities of the protocol; docs/protocol.md explains each word.
#pragma once

#include <compare>
#include <cstdint>

namespace ballast {

using Step = std::uint64_t;          // 0-based; step t turns version t into version t + 1
using ItemId = std::uint64_t;        // of a work item: step * slots + slot
using Version = std::uint64_t;       // updates of a chunk: steps decided, or in item mode items applied
using Timeline = std::uint64_t;      // one history of the job between rollbacks; 0 = none yet
using Generation = std::uint64_t;    // increases when slots change hands
using SessionId = std::uint64_t;     // one life of a worker; never 0
using Incarnation = std::uint64_t;   // one life of a shard; never 0
using ConnectionId = std::uint64_t;  // of a session to a lane; later ones are greater; never 0
using PayerId = std::uint64_t;       // who answers for sessions: a key, or without keys an address
using RunId = std::uint64_t;  // one run of a job, from its first timeline to its end; never 0 once that is durable
using ChunkId = std::uint32_t;
using Slot = std::uint32_t;
using Micros = std::uint64_t;  // a moment or a span in microseconds; moments only compare within one process

// A payload's name inside a core. The core never touches the bytes; its shell maps handles to buffers.
using PayloadId = std::uint64_t;
inline constexpr PayloadId kNoPayload = 0;

// How large these become at most. A run that is restored from its copies goes on up to 2^31 timelines further.
inline constexpr unsigned kTimelineBits = 48;
inline constexpr unsigned kStepBits = 40;
inline constexpr unsigned kSlotBits = 12;
inline constexpr Step kMaxSteps = 1'000'000'000'000;  // of a job

inline constexpr std::uint32_t kMaxSlots = 4096;
inline constexpr std::uint32_t kMaxSessions = 1024;  // a lead or lane refuses further ones
inline constexpr std::uint32_t kMaxOffers = 64;      // of a session that a lane remembers
inline constexpr std::uint32_t kMaxPlanned = 8192;   // updates in a plan
inline constexpr std::uint32_t kMaxGrants = 256;     // that a session holds at a time
inline constexpr std::uint32_t kMaxCoveredRanges = 4096;
inline constexpr std::uint32_t kMaxMarks = 1024;        // with a contribution
inline constexpr std::uint32_t kMaxShardLives = 256;    // of one timeline; with the next one a timeline begins
inline constexpr std::uint32_t kMaxHeld = 1024;         // snapshots, the newest, that a shard says it holds
inline constexpr std::uint32_t kMaxCopied = 64;         // sets of copies, the newest, that a shard tells of
inline constexpr std::uint32_t kMaxReachedBy = 8;       // sessions that a report names for its newest version
inline constexpr std::uint32_t kMaxOutOfStanding = 32;  // sessions that a report names for what they owe
inline constexpr std::uint32_t kMaxBarred = 64;         // sessions of which nothing is taken any more
inline constexpr std::uint32_t kMaxArithmetics = 16;    // of one job that are remembered

// Of a pull: whatever version is the newest when it is answered.
inline constexpr Version kNewestVersion = ~Version{0};

struct LaneId {
  std::uint32_t shard = 0;
  std::uint32_t lane = 0;
  auto operator<=>(const LaneId&) const = default;
};

// A snapshot of the whole job: the weights and the optimizer's state at exactly `step`, on `timeline`. The order is
// that of the job's history: a newer timeline's are newer than all of an older one's.
struct SnapshotId {
  Timeline timeline = 0;
  Step step = 0;
  auto operator<=>(const SnapshotId&) const = default;
};

inline constexpr Slot kNoSlot = ~Slot{0};

// What happens at a step whose gradient has an infinity or a NaN.
enum class NonFinite : std::uint8_t {
  halt,      // the job fails, names slot and parameter, and can be resumed
  skip,      // the step leaves weights and optimizer state as they are
  rollback,  // the job goes back to its newest snapshot; the steps from there through this one are left out
};

// What somebody saw of a shard: all that its life `incarnation` had committed to its journal up to `sequence`.
struct JournalMark {
  std::uint32_t shard = 0;
  Incarnation incarnation = 0;
  std::uint64_t sequence = 0;
  bool operator==(const JournalMark&) const = default;
};

// A life of a shard within one timeline, which began with so much in the shard's journal.
struct ShardLife {
  Incarnation incarnation = 0;
  std::uint64_t begun = 0;  // the last journal sequence that was there
  bool operator==(const ShardLife&) const = default;
};

// One process's hold of a database. Those of one database are ordered: a process gets the database's lock only when the
// process before it has ended, and counts itself, durably, before anybody hears of it.
struct DatabaseLife {
  std::uint64_t database = 0;  // drawn at random when the database was made; never 0
  std::uint64_t count = 0;     // of the processes that have had it, this one included; never 0
  bool operator==(const DatabaseLife&) const = default;
};

// The number of an order or a grant. A lead's lives are counted with those of shard 0's database, of which the lead is
// a part: what a later one says is newer, whatever its number.
struct LeadNumber {
  std::uint64_t life = 0;  // of the lead; 0: none
  std::uint64_t number = 0;
  auto operator<=>(const LeadNumber&) const = default;
};
inline constexpr LeadNumber kNoLeadNumber{};

// Whether `other` had the same database before, so that it is over.
constexpr bool follows(const DatabaseLife& life, const DatabaseLife& other) {
  return life.database == other.database && life.count > other.count;
}

// A contiguous range of items, [begin, end).
struct ItemRange {
  ItemId begin = 0;
  ItemId end = 0;
  bool operator==(const ItemRange&) const = default;
};

// A contiguous range of slots, [begin, end).
struct SlotRange {
  Slot begin = 0;
  Slot end = 0;
  auto operator<=>(const SlotRange&) const = default;
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] Slot size() const { return empty() ? 0 : end - begin; }
  [[nodiscard]] bool contains(Slot slot) const { return begin <= slot && slot < end; }
  [[nodiscard]] bool contains(const SlotRange& other) const { return begin <= other.begin && other.end <= end; }
};

// A node of the reduction tree: the slots below it.
using Node = SlotRange;

}  // namespace ballast
