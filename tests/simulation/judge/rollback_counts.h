// Judges how the ledger counts rollbacks: one for each timeline in which somebody is known to have trained, by its
// cause, and none for others.
#pragma once

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"

namespace ballast::simulation {

class RollbackCountsJudge {
 public:
  void lead_starts() { given_by_lead_ = 0; }
  // `base`: of the order's timeline.
  void assigned(const Assign& assign, Step base);
  // Throws Violation. `before`: the ledger that was durable until now. `may_be_held`: as far as
  // the lead knows, all hold at its newest snapshot for a server. `has_impostors`: who was given no work may have
  // brought lanes further.
  void ledger_durable(const Ledger& before, const StoredLedger& stored, bool may_be_held, bool has_impostors = false);

  [[nodiscard]] const FactSet& facts() const { return facts_; }

 private:
  void check_uncounted(const Ledger& before, const Ledger& ledger, bool may_be_held) const;
  void note_cause(const RollbackCounts& before, const RollbackCounts& now);

  Timeline given_ = 0;          // the newest timeline of which work was given out
  Timeline given_by_lead_ = 0;  // by the lead that lives
  Step counted_until_ = 0;      // the step after the last one whose statistics are durable
  FactSet facts_;
};

}  // namespace ballast::simulation
