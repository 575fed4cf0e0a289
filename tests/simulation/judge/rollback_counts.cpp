#include "tests/simulation/judge/rollback_counts.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

namespace {

constexpr std::array kFactOf = {Fact::rollback_for_shard,
                                Fact::rollback_for_mark,
                                Fact::rollback_below_cut,
                                Fact::rollback_for_lives,
                                Fact::rollback_for_value,
                                Fact::rollback_for_tear,
                                Fact::count};
static_assert(kFactOf.size() == kRollbackWords.size());

}  // namespace

void RollbackCountsJudge::assigned(const Assign& assign, Step base) {
  const auto& standing = assign.rounds.standing;
  const bool is_work = (!standing.slots.empty() && standing.until > std::max(standing.from, base)) ||
                       assign.rounds.now || !assign.items.grants.empty();
  if (is_work) {
    given_ = std::max(given_, assign.timeline);
    given_by_lead_ = assign.timeline;
  }
}

void RollbackCountsJudge::ledger_durable(const Ledger& before, const StoredLedger& stored, bool may_be_held,
                                         bool has_impostors) {
  const auto& ledger = stored.ledger;
  const auto counted = ledger.rollbacks.total() - before.rollbacks.total();
  if (counted > 0) {
    require(ledger.timeline > before.timeline, "a rollback is counted though the timeline is the old one");
    require(given_ == before.timeline || has_impostors,
            "a rollback is counted though nobody had been given work of the timeline");
    require(counted == 1, "one rollback is counted several times");
    note_cause(before.rollbacks, ledger.rollbacks);
  } else {
    check_uncounted(before, ledger, may_be_held);
    facts_.note(Fact::untrained_timeline, !before.held && before.timeline > 0 && ledger.timeline > before.timeline);
  }
  counted_until_ = stored.statistics.empty() ? 0 : stored.statistics.back().step + 1;
}

// A hold for a server that is not durable yet when the next timeline begins is known to the lead alone.
void RollbackCountsJudge::check_uncounted(const Ledger& before, const Ledger& ledger, bool may_be_held) const {
  require(ledger.rollbacks == before.rollbacks, "rollbacks have other causes than before");
  require(ledger.rolled_back_steps == before.rolled_back_steps, "steps are trained again without a rollback");
  const bool has_begun = before.timeline > 0 && ledger.timeline > before.timeline;
  require(!has_begun || may_be_held ||
              (counted_until_ <= before.base.step && before.complete.back().step == before.base.step &&
               given_by_lead_ < before.timeline),
          "a rollback is not counted, though the lead knows that somebody has trained");
}

void RollbackCountsJudge::note_cause(const RollbackCounts& before, const RollbackCounts& now) {
  require(now.unknown == before.unknown, "a rollback is counted without its cause");
  for (const auto& told : kRollbackWords) {
    if (now.of(told.cause) > before.of(told.cause)) {
      facts_.note(kFactOf[static_cast<std::size_t>(told.cause)]);
    }
  }
}

}  // namespace ballast::simulation
