// What an operator should be told when it happens, derived from two statuses in a row. Pure.
#pragma once

#include <string>
#include <vector>

#include "protocol/messages.h"

namespace ballast {

struct Change {
  std::string text;
  bool wrong = true;  // something is wrong or was lost; else it is only news
  bool operator==(const Change&) const = default;
};

// The job went back to a snapshot, a step was skipped, a snapshot was missed.
std::vector<Change> setbacks_between(const Status& before, const Status& now);

// These, and: trouble came or went, somebody is waited for, the job is paused or goes on.
std::vector<Change> changes_between(const Status& before, const Status& now);

// Why the job does not come to a snapshot, or not on: its trouble, else who is waited for (without the growing time).
// Empty if nothing is known.
std::string hindrance(const Status& status);

// Who keeps the job from going on, or from coming to a pause: whom the lead names, else that there is no worker, which
// the lead itself says only before training begins. Empty: nobody.
std::string awaited_by(const Status& status);
inline constexpr auto kNoWorker = "a worker, for there is none";

}  // namespace ballast
