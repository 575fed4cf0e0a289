// `ballast stop`, `ballast pause` and `ballast resume`: what the user wants of a running job.
#pragma once

#include <optional>
#include <string>

#include "protocol/messages.h"

namespace ballast {

// What a command has come to, by the lead's status. Pure.
struct ControlOutcome {
  int exit_code = 0;
  std::string text;
};
// Nothing while it is under way. `where` is what the user named the job by, for the text.
std::optional<ControlOutcome> outcome_of(Control::Command command, const Status& status, const std::string& where,
                                         const std::string& keys = {});

// Tells the lead until its status shows the wish fulfilled: stopped, paused, or no longer paused. `where`: a run's
// folder or the lead's address. Waits as long as the lead answers: a stop or a pause needs a snapshot. Returns the exit
// code: 1 if the job ended otherwise or the lead is silent. Throws std::runtime_error for a bad `where`. `keys`: a file
// of an operator's; empty: none, or those of the run in the folder.
int control_job(const std::string& where, Control::Command command, const std::string& keys = {});

}  // namespace ballast
