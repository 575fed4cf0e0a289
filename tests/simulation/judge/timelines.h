// The durable ledger's timelines: their bases, the lives that they list, and who may serve them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class Timelines {
 public:
  // What the durable ledger says of a timeline.
  struct History {
    SnapshotId base;
    std::vector<Incarnation> incarnations;
    std::uint64_t placement = 0;
  };
  enum class Change : std::uint8_t { none, lives, begins };

  explicit Timelines(const LifeSpec& life) : life_(life) {}

  [[nodiscard]] const Ledger& durable() const { return ledger_; }
  [[nodiscard]] bool finish_recorded() const { return ledger_.finished.has_value(); }
  [[nodiscard]] const History& of(Timeline timeline) const;
  // The timeline that a lane serves; it must be allowed to.
  const History& serves(const LaneLife& lane, const Disks& disks) const;

  void lane_starts(const LaneLife& lane) { newest_lives_[shard(lane)] = lane.incarnation; }
  // The shard's, and not one that another has taken the place of and that does not know it yet.
  [[nodiscard]] bool is_present(const LaneLife& lane) const;
  void turned_away(const LaneLife& lane, const Disks& disks) const;
  void confirmed(std::uint32_t shard, const Confirm& confirm) const;
  // What the plan says of the ledger.
  void planned(const Plan& plan) const;

  // The newest timeline of a ledger that is durable now; became_durable() ends its judging.
  [[nodiscard]] Change follow(const Ledger& ledger);
  // Of a shard that has begun another life since: what the newest one can do is unknown to the ledger.
  [[nodiscard]] bool lists_a_life_that_is_over(const Ledger& ledger) const;
  void became_durable(const Ledger& ledger);
  // The shard has lost its part of a snapshot: until it has that of a timeline, the next one may begin before the
  // newest complete one.
  void lacks_base(std::uint32_t shard) { lack_base_.insert(shard); }
  void has_base(const LaneLife& lane) { lack_base_.erase(shard(lane)); }
  // The lead knows what is durable.
  void ledger_heard() { heard_databases_ = ledger_.databases; }

 private:
  [[nodiscard]] std::uint32_t shard(const LaneLife& lane) const { return lane.lane / life_.lanes; }
  [[nodiscard]] Change take_new_lives(const Ledger& ledger, History& known) const;

  const LifeSpec& life_;
  Ledger ledger_;                              // the durable one
  std::set<std::uint32_t> lack_base_;          // shards
  std::vector<SnapshotId> known_complete_;     // by the durable one before it, which the lead may know alone
  CopyState known_copies_;                     // the same
  std::vector<DatabaseLife> heard_databases_;  // by the ledger that the lead knows to be durable
  std::map<Timeline, History> histories_;
  std::map<std::uint32_t, Incarnation> newest_lives_;  // by shard
};

}  // namespace ballast::simulation
