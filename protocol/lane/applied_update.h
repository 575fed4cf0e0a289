// What a lane's applier makes of contributions, in plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lane/lane_events.h"
#include "protocol/lane/lane_sessions.h"
#include "protocol/messages.h"

namespace ballast {

// Whether a lane has use for a contribution.
enum class Want : std::uint8_t {
  wanted,
  covered,  // it has it, or is past its step
  not_yet,  // it may have later
};

// What the oldest work takes of a lane's memory, and what is wanted next of it.
struct Spine {
  std::uint64_t held = 0;   // bytes
  std::uint64_t roots = 0;  // bytes of chunks that wait for the whole gradient's decision
};
struct OldestWanted {
  Step step = 0;
  ChunkId chunk = 0;
  Slot slot = 0;
};

// What becomes of a contribution.
struct Offered {
  std::optional<Refused> refused;         // then nothing else
  lane::Actions actions;                  // at once
  std::optional<ReceiptOutcome> receipt;  // to its sender, at once
  std::optional<lane::Measure> measure;   // then
};

// A receipt, and the chunk's next version if the contribution asked for it.
struct Answer {
  SessionId session = 0;
  Push push;
  ReceiptOutcome outcome = ReceiptOutcome::accepted;
};

struct OpenedStep {
  Step step = 0;
  Version passed = 0;  // all chunks are at that version or beyond
};

// An update that is to be applied now, and what is so of its chunk afterwards.
struct AppliedUpdate {
  lane::Apply apply;  // but for the timeline, which is the lane's to know
  ServedChunk served;
  Node node;                            // of the step's tree: what is applied
  bool of_statistics = false;           // of the chunk that is no part of the model
  std::optional<Step> at_step;          // all updates of the steps before are applied, and no other
  std::vector<SessionId> contributors;  // of the statistics: once for each slot
  std::vector<Answer> answers;
  std::optional<OpenedStep> opened;  // the lane's open step moved on
};

// What an event leads to, in this order.
struct ApplierOutcome {
  lane::Actions actions;
  std::vector<Answer> answers;  // to those whose contribution is not applied
  std::vector<AppliedUpdate> applied;
  std::optional<ItemId> whole;  // all items before the plan's end are applied: the journal is to be synced with them
  bool report = false;          // the lead has to know
};

// What a lane goes on with after a crash of its shard.
struct ResumedItems {
  Version planned_from = 0;
  std::vector<StepStatistics> statistics;  // parts of steps
};

struct ApplierCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t superseded = 0;  // payloads that a containing node replaced
  std::uint64_t waited_for_factors = 0;
  StalenessCounts staleness;  // in item mode
  bool operator==(const ApplierCounters&) const = default;
};

inline std::string place_of(const Push& push) {
  return "chunk " + std::to_string(push.chunk) + ", step " + std::to_string(push.step);
}

}  // namespace ballast
