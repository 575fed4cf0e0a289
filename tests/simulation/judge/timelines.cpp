#include "tests/simulation/judge/timelines.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

const Timelines::History& Timelines::of(Timeline timeline) const {
  const auto found = histories_.find(timeline);
  if (found == histories_.end()) {
    throw Violation("timeline " + std::to_string(timeline) + " is followed, which no durable ledger names");
  }
  return found->second;
}

const Timelines::History& Timelines::serves(const LaneLife& lane, const Disks& disks) const {
  const auto& known = of(lane.timeline);
  const auto what = "lane " + std::to_string(lane.lane) + " serves timeline " + std::to_string(lane.timeline);
  if (known.incarnations[shard(lane)] != lane.incarnation) {
    throw Violation(what + ", which does not list its life " + std::to_string(lane.incarnation));
  }
  if (disks.of(shard(lane), lane.database.database).timeline < lane.timeline) {
    throw Violation(what + " before its own record of it is durable");
  }
  return known;
}

bool Timelines::is_present(const LaneLife& lane) const {
  const auto newest = newest_lives_.find(shard(lane));
  return newest != newest_lives_.end() && newest->second == lane.incarnation;
}

void Timelines::turned_away(const LaneLife& lane, const Disks& disks) const {
  const auto at = shard(lane);
  const auto lists = [&](const std::vector<DatabaseLife>& databases) {
    return at < databases.size() && databases[at].database == lane.database.database;
  };
  const auto whole = disks.of(at, lane.database.database).whole(life_.lanes);
  const bool lacks_newest = life_.restores && std::ranges::find(whole, ledger_.complete.back()) == whole.end();
  const bool is_own = lists(ledger_.databases) && lists(heard_databases_) && !lacks_newest;
  require(!is_own || lane.database.count < disks.of(at, lane.database.database).life.count,
          "the lead turns away the shard that its ledger lists, or a later life of it");
}

void Timelines::confirmed(std::uint32_t shard, const Confirm& confirm) const {
  // Who goes on within a timeline begins at the newest complete snapshot, by what the lead knows to be durable.
  const auto& complete = ledger_.complete;
  const bool is_base = confirm.resumes ? std::find(complete.begin(), complete.end(), confirm.base) != complete.end() ||
                                             (!known_complete_.empty() && confirm.base == known_complete_.back())
                                       : confirm.base == of(confirm.timeline).base;
  require(!confirm.resumes || life_.journaled(), "a shard is told to go on without a journal");
  if (confirm.timeline != ledger_.timeline || !is_base || confirm.incarnation != ledger_.incarnations.at(shard)) {
    throw Violation("timeline " + std::to_string(confirm.timeline) + " is confirmed to life " +
                    std::to_string(confirm.incarnation) + " of shard " + std::to_string(shard) +
                    ", which the durable ledger does not say");
  }
}

void Timelines::planned(const Plan& plan) const {
  // What is durable since the lead last heard of it may be more.
  require(plan.keep == ledger_.complete || plan.keep == known_complete_,
          "a plan lists other snapshots to be kept than the durable ledger");
  // Before the lead's life is in the ledger, it speaks of none: shards pass over that.
  require(plan.copies == ledger_.copies || plan.copies == known_copies_ || plan.copies == CopyState{},
          "a plan speaks of other copies than the durable ledger");
  require(plan.statistics_through >= of(plan.timeline).base.step, "a plan knows nothing of the base's statistics");
}

// ---- the ledger

Timelines::Change Timelines::follow(const Ledger& ledger) {
  require(ledger.timeline >= ledger_.timeline, "the ledger's timeline goes backwards");
  const auto known = histories_.find(ledger.timeline);
  if (known != histories_.end()) {
    require(known->second.base == ledger.base, "the base of a timeline is derived again");
    return take_new_lives(ledger, known->second);
  }
  require(ledger.incarnations.size() == life_.shards, "a timeline that does not list every shard");
  require(ledger_.complete.empty() || ledger.base >= ledger_.complete.back() || !lack_base_.empty(),
          "a timeline begins before the newest complete snapshot");
  require(ledger.placement > ledger_.placement, "shards live elsewhere, and the placement is the old one");
  histories_[ledger.timeline] = {ledger.base, ledger.incarnations, ledger.placement};
  return Change::begins;
}

// In a journaled job a shard may go on in its timeline in another life.
Timelines::Change Timelines::take_new_lives(const Ledger& ledger, History& known) const {
  if (known.incarnations == ledger.incarnations) {
    return Change::none;
  }
  require(life_.journaled(), "the lives of a timeline's shards change");
  require(ledger.placement > known.placement, "a shard lives elsewhere, and the placement is the old one");
  known.incarnations = ledger.incarnations;
  known.placement = ledger.placement;
  return Change::lives;
}

bool Timelines::lists_a_life_that_is_over(const Ledger& ledger) const {
  return std::any_of(newest_lives_.begin(), newest_lives_.end(),
                     [&](const auto& newest) { return ledger.incarnations[newest.first] < newest.second; });
}

void Timelines::became_durable(const Ledger& ledger) {
  if (ledger.timeline > 0) {
    known_complete_ = ledger_.complete;
    known_copies_ = ledger_.copies;
  }
  ledger_ = ledger;
}

}  // namespace ballast::simulation
