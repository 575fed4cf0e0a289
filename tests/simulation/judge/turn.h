// Judges how much a lane does for one event: a bounded part of what is due, and the rest soon.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "protocol/ids.h"
#include "protocol/lane/lane.h"
#include "protocol/messages.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Of one life of a lane. Every method throws Violation.
class TurnJudge {
 public:
  TurnJudge(const LifeSpec& life, std::uint64_t event_bytes) : life_(life), event_bytes_(event_bytes) {}

  // The lane is about to begin a timeline: what was due is not any more.
  void begins();
  // An event, before the lane deals with it.
  void turn_begins(const lane::Event& event);
  // A plan of the lane's timeline; `open` is the version of the chunk that is furthest behind.
  void planned(const Plan& plan, Version open);
  // It has dealt with it. `waiting`: chunks whose update waits for who reads their weights.
  void turn_ends(bool has_more, const std::map<ChunkId, Micros>& waiting = {}) const;

  // Within a turn.
  void appended(const lane::Append& action) { appended_[action.ticket] = {action.chunk, action.version}; }
  void applied(const lane::Apply& action);
  void measured(const lane::Measure& action);

  // Something was applied or measured that an earlier event had left to do.
  [[nodiscard]] bool went_on() const { return went_on_; }

 private:
  struct Root {
    Step step = 0;
    bool is_finite = true;
  };

  void counts(ChunkId chunk);

  const LifeSpec& life_;
  std::uint64_t event_bytes_;
  std::map<ChunkId, Root> roots_;                                  // of rounds: read, and not applied
  std::map<Step, bool> planned_;                                   // of rounds: whether the step is skipped
  LeadNumber number_;                                              // of rounds: of the newest plan
  Version until_ = std::numeric_limits<Version>::max();            // of that
  std::map<std::uint64_t, std::pair<ChunkId, Version>> appended_;  // of items, by ticket: and not applied
  std::uint64_t committed_ = 0;                                    // the ticket
  bool goes_on_ = false;                                           // the turn is of an event that says so
  std::uint64_t bytes_ = 0;                                        // applied or measured in this turn
  bool went_on_ = false;
};

}  // namespace ballast::simulation
