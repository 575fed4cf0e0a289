#include "tests/simulation/judge/accounts.h"

#include <string>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/reference.h"

namespace ballast::simulation {

void SlotAccounts::lane_starts(const LaneLife& lane) {
  if (counts(lane)) {
    serving_.reset();
  }
}

void SlotAccounts::serves(const LaneLife& lane, bool finish_recorded) {
  if (counts(lane)) {
    serving_ = finish_recorded ? std::nullopt : std::optional(lane.incarnation);
  }
}

void SlotAccounts::check(const Status& status) const {
  if (!serving_) {
    return;
  }
  const auto life = slots_.find(*serving_);
  const auto slots = life == slots_.end() ? std::map<SessionId, std::uint64_t>{} : life->second;
  for (const auto& session : status.sessions) {
    const auto known = slots.find(session.session);
    const auto own = known == slots.end() ? 0 : known->second;
    if (session.slots != own) {
      throw Violation("session " + std::to_string(session.session) + " is credited with " +
                      std::to_string(session.slots) + " slots, and has had " + std::to_string(own) + " accepted");
    }
  }
}

void check_log(const LifeSpec& life, const StoredLedger& stored) {
  for (Step step = 0; step < stored.statistics.size(); ++step) {
    if (step >= life.steps || stored.statistics[step].step != step) {
      throw Violation("the statistics of step " + std::to_string(step) + " in the ledger are counted twice or missing");
    }
  }
  require(stored.statistics.size() >= stored.ledger.complete.back().step,
          "a snapshot is complete before the statistics up to it are durable");
}

void check_told(const LifeSpec& life, const Status& status, const StoredLedger& stored, Step end) {
  require(stored.statistics.size() == end, "the ledger does not end with the statistics of the last step");
  require(status.phase == JobPhase::finished && status.failure.empty(), "the lead's status does not say finished");
  require(status.step == end, "the lead's status names another step");
  require(status.examples == examples(stored.statistics, end),
          "the lead's count of examples differs from the reference");
  require(status.train_loss == train_loss(life, stored.statistics, end),
          "the lead's training loss differs from the reference");
  for (const auto& evaluation : stored.evaluations) {
    const auto& shown = evaluation.split == Split::test ? status.test : status.validation;
    require(shown.evaluated && shown.step >= evaluation.step, "the lead's status lacks an evaluation");
    require(shown.step != evaluation.step || (shown.loss == evaluation.loss && shown.accuracy == evaluation.accuracy),
            "the evaluation differs from the reference");
  }
}

}  // namespace ballast::simulation
