// Judges the user's stops: how long one may last, what it may leave out, and what is said of it.
#pragma once

#include <optional>
#include <set>

#include "protocol/ids.h"
#include "protocol/lead/lead.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class StopJudge {
 public:
  // How far the job has come: of all chunks the furthest, with what waits for a journal.
  struct Reached {
    Timeline timeline = 0;
    Version version = 0;
  };

  explicit StopJudge(const LifeSpec& life) : life_(life) {}

  void lead_starts();
  // By the lead's clock, before the lead does what is due.
  void ticks(Micros clock);
  void said_hello(SessionId session) { at_work_.erase(session); }
  void assigned(SessionId session, const Assign& assign);
  // What the user says to a lead in this phase.
  void commanded(Control::Command command, Lead::Phase phase, Reached reached);
  // The lead has dealt with an event.
  void stands(Lead::Phase before, Lead::Phase after);
  // With that it has ended the run; `status` is what the user is told.
  void stopped(Lead::Phase before, const Status& status, const Ledger& durable, Reached reached) const;

  [[nodiscard]] bool is_patience_over() const { return stop_ && stop_->most > life_.stop_patience; }
  // The end was recorded at last because of a stop whose patience was over.
  [[nodiscard]] bool gave_up_copy() const { return gave_up_copy_; }

 private:
  // The patience used up by a stop, or by the writing of the end that is all it waits for.
  struct Wish {
    Micros least = 0;
    Micros most = 0;
    bool counts = false;  // a tick has come since
    bool was_paused = false;
    Reached reached;  // when it was said
  };

  const LifeSpec& life_;
  Micros ticked_at_ = 0;
  std::optional<Wish> stop_;
  bool is_paused_ = false;       // by the user's last word
  std::set<SessionId> at_work_;  // by the lead that is
  bool gave_up_copy_ = false;
};

}  // namespace ballast::simulation
