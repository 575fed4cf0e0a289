#include "tests/simulation/judge/departures.h"

#include <algorithm>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

bool lists(const Ledger& ledger, Incarnation incarnation) {
  return std::find(ledger.incarnations.begin(), ledger.incarnations.end(), incarnation) != ledger.incarnations.end();
}

}  // namespace

bool DeparturesJudge::may_be_held(const Ledger& ledger, Version reached) const {
  return ledger.timeline > 0 && reached <= life_.updates(ledger.complete.back().step) &&
         std::any_of(told_.begin(), told_.end(), [&](Incarnation told) { return lists(ledger, told); });
}

void DeparturesJudge::departs(const LaneLife& lane, Way way, const Ledger& durable, Version reached) {
  require(told_.contains(lane.incarnation), "a server goes that nobody has told to end");
  if (life_.journaled()) {
    return require(way.whole, "a server with a journal waits to be let go");
  }
  if (way.lost) {
    return;
  }
  if (!way.whole) {
    // Which it may hear late, when the next timeline has begun.
    require(held_.contains(lane.timeline), "a server is let go before it is durable that all hold for it");
    departed_[lane.timeline].insert(lane.incarnation);
    return;
  }
  require(!way.serving, "a server goes at once, though it serves a timeline");
  require(!lists(durable, lane.incarnation) || reached <= life_.updates(durable.base.step),
          "a server goes at once, though the timeline that lists it has been worked in");
}

void DeparturesJudge::planned(const Plan& plan, const Ledger& durable) const {
  require(!plan.may_depart || (durable.held && plan.timeline == durable.timeline),
          "a plan lets a server go before it is durable that all hold for it");
}

std::size_t DeparturesJudge::departed_in(Timeline timeline) const {
  const auto found = departed_.find(timeline);
  return found == departed_.end() ? 0 : found->second.size();
}

void DeparturesJudge::ledger_durable(const Ledger& before, const Ledger& ledger, Version reached) {
  const bool is_same = ledger.timeline == before.timeline;
  if (ledger.held && !(is_same && before.held)) {
    require(is_same, "a timeline begins as one that is held");
    require(!life_.journaled(), "a journaled job is held for a server that is told to end");
    require(std::any_of(told_.begin(), told_.end(), [&](Incarnation told) { return lists(ledger, told); }),
            "a job is held for servers, and nobody has told one to end");
    require(reached <= life_.updates(ledger.complete.back().step),
            "a job is held at a snapshot, and somebody is beyond it");
    held_.insert(ledger.timeline);
  }
  const bool goes_back = !is_same && !before.complete.empty() && ledger.base < before.complete.back();  // a lost disk
  if (before.held && !goes_back) {
    require(!is_same || ledger.held, "a job goes on in the timeline in which it is held");
    require(is_same || ledger.base == before.complete.back(), "a job that was held goes on from elsewhere");
    require(is_same || (ledger.rollbacks == before.rollbacks && ledger.rolled_back_steps == before.rolled_back_steps),
            "a job was held for a server, and counts a rollback for it");
  }
}

void DeparturesJudge::applied(Timeline timeline, Version version, const Ledger& durable) const {
  require(!durable.held || timeline != durable.timeline || version < life_.updates(durable.complete.back().step),
          "something is applied beyond the snapshot at which the job is held");
}

}  // namespace ballast::simulation
