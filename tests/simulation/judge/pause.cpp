#include "tests/simulation/judge/pause.h"

#include <algorithm>
#include <string>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

void PauseJudge::commanded(Control::Command command) {
  command_ = command;
  has_ended_ = has_ended_ || command != Control::Command::pause;
  may_go_on_ = may_go_on_ || command != Control::Command::pause;
}

void PauseJudge::lead_starts() {
  heard_ = pause_;
  if (pause_ != Pause::none) {
    command_ = Control::Command::pause;
    has_ended_ = false;
    may_go_on_ = false;
  }
}

void PauseJudge::called_paused() const {
  require(heard_ == Pause::held, "the job is called paused, which its ledger does not say");
}

void PauseJudge::planned(const Plan& plan) const {
  require(pause_ != Pause::held || plan.until <= life_.updates(held_), "updates are planned while the job is paused");
}

void PauseJudge::ledger_durable(const Ledger& ledger) {
  const bool goes_on = (pause_ != Pause::none && ledger.pause == Pause::none) ||
                       (pause_ == Pause::held && ledger.pause == Pause::wanted);  // as far as the next pause
  require(!goes_on || may_go_on_ || ledger.finished,
          "a pause is over, and neither the user nor the job's end has ended it");
  if (ledger.pause != Pause::none) {
    may_go_on_ = has_ended_;  // by then the user may have let it go on, and asked for another
  }
  held_ = ledger.complete.empty() ? 0 : ledger.complete.back().step;
  pause_ = ledger.pause;
}

// A shard that comes back may be behind.
void PauseJudge::applied_round(Step step) const {
  if (pause_ == Pause::held && step >= held_) {
    throw Violation("step " + std::to_string(step) + " is applied while the job is paused");
  }
}

void PauseJudge::applied_item() const { require(pause_ != Pause::held, "an item is applied while the job is paused"); }

}  // namespace ballast::simulation
