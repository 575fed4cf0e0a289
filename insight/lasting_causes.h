// What holds a job back for how long, over windows of its steps.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/verdict.h"
#include "insight/windows.h"

namespace ballast::insight {

struct WindowVerdict {
  Window window;
  Verdict verdict;
};

// A cause in the windows that were looked at.
struct LastingCause {
  Finding finding;        // in the newest of those that have it
  Window window;          // that one
  Step since = 0;         // the first step of the first of those in a row that have it until then
  std::size_t costs = 0;  // in so many windows it costs more than 3 %
  bool is_over = false;   // the newest window does not have it
  bool persists = false;  // it costs more than 3 % in two of them at least
  bool alarms = false;    // so it does in two whole windows at least; or, if it passes, more than 5 % in one
};

// Of each cause that some window has. `windows`: the newest last; those with fewer than `whole` steps raise no alarm.
// Those of the newest come first, in its order.
std::vector<LastingCause> lasting_causes(const std::vector<WindowVerdict>& windows, std::size_t whole);

}  // namespace ballast::insight
