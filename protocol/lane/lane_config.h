// What a lane is told when it starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

struct LaneChunk {
  ChunkId id = 0;
  std::uint64_t bytes = 0;
  bool statistics = false;
  bool operator==(const LaneChunk&) const = default;
};

// Of item mode: async and ssp.
struct ItemRules {
  std::uint32_t staleness_bound = 0;  // updates; 0: none
  bool damped = false;                // the step's size is divided by the staleness
  bool skips_non_finite = false;      // instead of waiting for the lead to end the job
  bool journaled = false;             // an update is applied once it is committed to the shard's journal
  bool operator==(const ItemRules&) const = default;
};

// All that a lane is told when it is made: plain data, so it may have more than 15 fields.
struct LaneConfig {
  LaneId id;
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;
  Incarnation incarnation = 1;
  DatabaseLife database;         // the shard's, and which of its lives this is
  std::vector<SnapshotId> held;  // in it, ascending, of which all of the shard's part is durable
  Slot slots = 1;
  Step steps = 1;  // of the whole job
  std::vector<LaneChunk> chunks;
  RunId run = 0;                   // whose copies the shard can go on from; 0: of none
  Timeline last_timeline = 0;      // that the shard's database knows of
  std::optional<ItemRules> items;  // of item mode; none: rounds
  bool measures_updates = false;   // of rounds: a measure needs the prospect of its version, not the root alone
  bool averages = false;           // the weights' moving averages are kept, for evaluations; of rounds
  std::vector<ShardLife> lives;    // in last_timeline, this one last; empty if there is nothing to go on with
  std::string spec_digest;
  std::string layout_digest;
  std::string address;
  std::uint64_t memory_bytes = 1U << 30U;  // of contributions, held or on their way; at least reserve_of()
  std::uint64_t kept_bytes = 1U << 30U;    // beside them, of weights that are read and of no use else: kept_of()
  Micros kept_patience = 2'000'000;   // for which an update waits for their readers, and longer by its chunk's size
  Micros kept_pause = 60'000'000;     // for which nobody waits for who was cut then, the first time
  Micros call_overdue = 2'000'000;    // after which a contribution that was called is taken back
  Micros call_pause = 2'000'000;      // then nothing is called of its sender for so long, the first time
  bool needs_whole_gradient = false;  // of rounds: no chunk of a step is applied before all of the lane are covered
  std::uint64_t reply_window_bytes = 16U << 20;  // weights handed to the transport and not yet sent, per session
  // The same of all sessions, but for one reply of each; at most kept_bytes, or in a small lane eight times what it
  // owns.
  std::uint64_t all_replies_bytes = 256U << 20;
  Micros report_every = 50'000;               // to the lead, while something changes
  Micros idle_report_every = 200'000;         // otherwise
  std::string initial_weights;                // digest of the file that this life read them from; empty: none
  Micros lead_silence = 600'000'000;          // without a word from the lead for so long the lane stops
  Micros hold_patience = 20'000'000;          // with a snapshot, of a server that was told to end
  std::uint64_t event_bytes = 8U << 20U;      // of updates applied for one event; the rest waits for GoOn
  std::uint32_t max_sessions = kMaxSessions;  // at most so many; further ones are refused
  Micros session_memory = 60'000'000;         // a session unseen for so long may lose its place to a new one
  bool operator==(const LaneConfig&) const = default;
};

}  // namespace ballast
