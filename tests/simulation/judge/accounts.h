// Judges what is counted: each step's statistics and each session's slots once, and what the user is told of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "protocol/ids.h"
#include "protocol/lead/lead.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// The slots of each session, as each life of the lane of the statistics counts them. Every method throws Violation.
class SlotAccounts {
 public:
  explicit SlotAccounts(const LifeSpec& life) : life_(life) {}

  // Another life of the lane is the present one, and has not served yet.
  void lane_starts(const LaneLife& lane);
  // The present life of a lane serves a timeline.
  void serves(const LaneLife& lane, bool finish_recorded);
  void credit(const LaneLife& lane, SessionId session) { ++slots_[lane.incarnation][session]; }
  void check(const Status& status) const;

 private:
  [[nodiscard]] bool counts(const LaneLife& lane) const { return life_.chunks[life_.statistics()].lane == lane.lane; }

  const LifeSpec& life_;
  std::map<Incarnation, std::map<SessionId, std::uint64_t>> slots_;
  std::optional<Incarnation> serving_;
};

// The following throw Violation.

// The ledger's statistics: of all steps up to its newest snapshot, each once.
void check_log(const LifeSpec& life, const StoredLedger& stored);
// The lead's last word, against the ledger's logs.
void check_told(const LifeSpec& life, const Status& status, const StoredLedger& stored, Step end);

}  // namespace ballast::simulation
