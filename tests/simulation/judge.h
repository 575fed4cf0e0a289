// The judge of a life: keeps the true history itself, from what it sees given and taken, and asserts every promise
// directly. It never asks a core what happened; where a core states a number, it is compared with the judge's own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/lead.h"
#include "common/protocol/messages.h"
#include "tests/simulation/life.h"
#include "tests/simulation/reference.h"
#include "tests/simulation/violation.h"

namespace ballast::simulation {

// A contribution that a lane's shell keeps for its core.
struct HeldPayload {
  ChunkId chunk = 0;
  Step step = 0;
  Node node;  // the slots it covers
  Payload payload;
};
using HeldPayloads = std::map<PayloadId, HeldPayload>;

// Every method throws Violation.
class Judge {
 public:
  explicit Judge(const LifeSpec& life) : life_(life), reference_(life), versions_(life.chunks.size()) {}

  // ---- lanes
  void asked(SessionId session, ChunkId chunk, Version version);
  void weights_sent(SessionId session, std::uint32_t lane, const Weights& header, std::uint64_t bytes,
                    Expression value);
  void replies_released(SessionId session, std::uint32_t lane, std::uint64_t bytes);
  void receipt_sent(SessionId session, const Receipt& receipt, const HeldPayloads& held);
  void gone_sent(const Gone& gone) const;
  void refused_by_lane(const Refused& refused) const;
  void applied(ChunkId chunk, bool is_statistics, Step step, const HeldPayload& root, const StepFactors& factors,
               Expression result);
  void lane_settled(const HeldPayloads& held, std::size_t stated) const;
  void persisted(std::uint32_t lane, Step step);

  // ---- workers
  void computes(Step step, const std::vector<SlotRange>& ranges, Expression weights) const;
  void evaluates(const Evaluation& evaluation, Expression weights) const;

  // ---- the lead
  void assigned(SessionId session, const Assign& assign);
  void planned(const Plan& plan) const;
  void recorded(const lead::LedgerRecord& record);

  // ---- the end
  void finished_well(const Status& status) const;

 private:
  struct Order {
    std::uint64_t order = 0;
    Generation generation = 0;
    Assign last;
  };

  void check_slots(SlotRange range) const;

  const LifeSpec& life_;
  Reference reference_;
  std::vector<Version> versions_;                                             // of each chunk, by the updates seen
  std::map<std::tuple<SessionId, ChunkId, Version>, std::uint32_t> asked_;    // and not answered yet
  std::map<std::pair<SessionId, std::uint32_t>, std::uint64_t> reply_bytes_;  // by session and lane
  std::map<Slot, SessionId> contributors_;                                    // of the statistics chunk's open step
  std::map<SessionId, std::uint64_t> slots_by_session_;
  std::map<SessionId, Order> orders_;
  std::set<std::uint32_t> persisted_;  // lanes
  bool timeline_recorded_ = false;
  bool finish_recorded_ = false;
};

}  // namespace ballast::simulation
