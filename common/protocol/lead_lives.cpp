// The lead's view of shards that come back within a timeline, with what their journals hold.
#include <algorithm>
#include <utility>

#include "common/protocol/journal_marks.h"
#include "common/protocol/lead.h"

namespace ballast {

// What the shard has is what it had, as far as it can tell itself; whether others built on more, the marks tell.
bool Lead::can_resume(const ShardHello& hello) const {
  const auto& current = book_.current();
  return is_journaled() && current.timeline > 0 && hello.timeline == current.timeline && !hello.lives.empty() &&
         hello.lives.back().incarnation == hello.incarnation;
}

void Lead::resume_shard(const ShardHello& hello) {
  auto& ledger = book_.edit();
  ledger.incarnations[hello.lane.shard] = hello.incarnation;
  ledger.databases.resize(config_.shards);
  ledger.databases[hello.lane.shard] = hello.database;
  ++ledger.placement;
  ++ledger.resumed_shards;
  // Its reports will say what it has; what others were granted goes on.
  items_.doubt_brought();
  if (phase_ == Phase::confirming) {
    phase_ = Phase::assembling;
  }
}

bool Lead::is_broken(const JournalMark& mark) const {
  const auto known = std::find_if(shards_.lanes().begin(), shards_.lanes().end(), [&](const auto& lane) {
    return lane.first.shard == mark.shard && !lane.second.lives.empty();
  });
  if (known == shards_.lanes().end()) {
    return false;  // it is away: when it comes back it is asked again
  }
  const auto& lives = known->second.lives;
  const auto life = std::find_if(lives.begin(), lives.end(),
                                 [&](const ShardLife& each) { return each.incarnation == mark.incarnation; });
  return life == lives.end() ||
         std::any_of(std::next(life), lives.end(), [&](const ShardLife& later) { return later.begun < mark.sequence; });
}

void Lead::take_marks(const LaneReport& report) {
  for (const auto& mark : report.marks) {
    note_mark(marks_, mark);
  }
}

// An evaluation is built upon all items before its step, a snapshot upon nothing that comes after it, and nobody waits
// for items at a barrier that is reached. A shard that had reached it and lacks some of them has lost them.
bool Lead::lacks_what_was_reached() const {
  Step reached = phase_ >= Phase::evaluating ? barrier_ : passed_;
  for (const auto& evaluation : evaluations_.records()) {
    reached = std::max(reached, evaluation.step);
  }
  return std::any_of(shards_.lanes().begin(), shards_.lanes().end(), [&](const auto& lane) {
    const auto& report = lane.second.report;
    return report.serving && report.timeline == timeline() && CoveredItems(report.covered).floor() < updates(reached);
  });
}

// Weights that a shard has lost were pulled, and updates made from them are elsewhere: the job goes back as a whole.
bool Lead::begin_again_if_broken() {
  if (!is_journaled() || book_.current().finished) {
    return false;
  }
  begins_again_ = begins_again_ || lacks_what_was_reached() ||
                  std::any_of(marks_.begin(), marks_.end(), [&](const JournalMark& mark) { return is_broken(mark); });
  if (!begins_again_) {
    return false;
  }
  if (shards_.all_there()) {
    begin_timeline();
  } else if (std::exchange(phase_, Phase::assembling) != Phase::assembling) {
    assembling_since_ = now_;
  }
  return true;
}

}  // namespace ballast
