// What a job's measurements say of it: who is slow, what that costs, for how long it has, and what to change.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "insight/advice.h"
#include "insight/job_trace.h"
#include "insight/lasting_causes.h"
#include "insight/link_memory.h"
#include "insight/severity.h"
#include "insight/verdict.h"
#include "insight/windows.h"

namespace ballast::insight {

struct Analysis {
  std::vector<Severity> severities;  // in the newest window; of all that was measured where there is none
  std::optional<Window> window;      // the newest; none: too little was measured
  std::size_t windows = 0;           // that were judged
  bool begins_at_change = false;     // the newest has fewer steps than were wanted, for those before took another time
  // None: it cannot be told, for the window or its replay is too short or too large.
  std::optional<Verdict> verdict;
  std::vector<LastingCause> lasting;  // over all windows
  Advice advice;
  bool is_too_large = false;  // a window has more messages than may be replayed
};

// For who must not take long, or must end soon.
struct AnalysisLimits {
  // Of a window that is replayed: contributions that its workers may send. A replay takes some microseconds for each,
  // and a window some hundred replays at most: to fit them, of each suspect, and for advice.
  std::size_t messages = std::numeric_limits<std::size_t>::max();
  // Asked before each window and before the advice; what is not judged then is left out.
  std::function<bool()> goes_on = [] { return true; };
};

// Looks at one job again and again. What windows have cost that were looked at before is not replayed again.
class Analyst {
 public:
  Analysis analyze(const JobTrace& trace, const WindowsWanted& wanted, const AnalysisLimits& limits = {});

 private:
  std::map<Window, std::optional<Verdict>> judged_;  // those of the last look
  LinkMemory links_;
};

}  // namespace ballast::insight
