// Judges servers that are told to end: when they may go, that all hold for them, and what the next timeline begins
// with.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class DeparturesJudge {
 public:
  // How a lane lets its server go.
  struct Way {
    bool whole = false;    // whatever the other lanes wait for
    bool lost = false;     // without a snapshot for it
    bool serving = false;  // the lane serves a timeline
  };

  explicit DeparturesJudge(const LifeSpec& life) : life_(life) {}

  void told(const LaneLife& lane) { told_.insert(lane.incarnation); }
  [[nodiscard]] bool is_told(Incarnation life) const { return told_.contains(life); }
  // Whether the lead may know that all hold for a server of the ledger's, though that is not durable.
  [[nodiscard]] bool may_be_held(const Ledger& ledger, Version reached) const;
  // `reached`: of all chunks the furthest version in the durable ledger's timeline.
  void departs(const LaneLife& lane, Way way, const Ledger& durable, Version reached);
  void planned(const Plan& plan, const Ledger& durable) const;
  // Servers that have gone in a timeline while all held for them.
  [[nodiscard]] std::size_t departed_in(Timeline timeline) const;
  // `before`: the ledger that was durable until now.
  void ledger_durable(const Ledger& before, const Ledger& ledger, Version reached);
  // In that timeline, to a chunk of that version.
  void applied(Timeline timeline, Version version, const Ledger& durable) const;

 private:
  const LifeSpec& life_;
  std::set<Incarnation> told_;
  std::set<Timeline> held_;  // by a ledger that was durable
  std::map<Timeline, std::set<Incarnation>> departed_;
};

}  // namespace ballast::simulation
