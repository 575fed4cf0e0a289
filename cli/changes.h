// What an operator should be told when it happens, derived from two statuses in a row. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/protocol/messages.h"

namespace ballast {

// Lines: the job went back to a snapshot, a step was skipped, a snapshot was missed, trouble came or went, somebody
// is waited for, the job is paused or goes on.
std::vector<std::string> changes_between(const Status& before, const Status& now);

// Why the job does not come to a snapshot, or not on: its trouble, else who is waited for (without the growing time).
// Empty if nothing is known.
std::string hindrance(const Status& status);

}  // namespace ballast
