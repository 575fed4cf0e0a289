// Judges the user's pauses: who is told of one when, what ends it, and what is still done in it.
#pragma once

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// Every method throws Violation.
class PauseJudge {
 public:
  explicit PauseJudge(const LifeSpec& life) : life_(life) {}

  // What the user says.
  void commanded(Control::Command command);
  // A lead begins with what is durable: a word that its predecessor had not made durable is lost.
  void lead_starts();
  // What the user is told.
  void called_paused() const;
  // The lead sends it.
  void planned(const Plan& plan) const;
  // The lead gives its ledger out to be written.
  void ledger_given() { has_ended_ = command_ != Control::Command::pause; }
  void ledger_durable(const Ledger& ledger);
  // The lead hears that its ledger is durable.
  void ledger_heard() { heard_ = pause_; }
  void applied_round(Step step) const;
  void applied_item() const;

 private:
  const LifeSpec& life_;
  Pause pause_ = Pause::none;                            // by the durable ledger
  Pause heard_ = Pause::none;                            // by the ledger that the lead knows to be durable
  Control::Command command_ = Control::Command::resume;  // the user's last
  bool has_ended_ = true;                                // the same, of the one that is being made durable
  bool may_go_on_ = true;                                // the user has ended the last durable pause, if there was one
  Step held_ = 0;                                        // the step of the newest complete snapshot
};

}  // namespace ballast::simulation
