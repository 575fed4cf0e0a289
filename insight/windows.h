// The last steps of a job in pieces, each looked at by itself.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "insight/job_trace.h"

namespace ballast::insight {

struct Window {
  Step first = 0;
  Step last = 0;  // it too
  auto operator<=>(const Window&) const = default;
  [[nodiscard]] std::size_t steps() const { return static_cast<std::size_t>(last - first + 1); }
};

struct WindowsWanted {
  std::size_t steps = 20;  // of each
  std::size_t most = 3;
  Step until = std::numeric_limits<Step>::max();  // the newest step that any has
};

// One after the other, the newest last. None has steps before and after a change: of how long steps take, or of how
// long a worker's slots do. So one before or after a change has fewer, four at least. Empty: fewer than five steps
// are measured as a whole, or it is not known in which mode the job is.
std::vector<Window> windows(const JobTrace& trace, const WindowsWanted& wanted);

// Whether the newest of them begins where something has changed, and has fewer steps than were wanted for that.
bool begins_at_change(const JobTrace& trace, const WindowsWanted& wanted, const Window& newest);

// What was measured in the window, with the updates of the step before it, whose end is its begin; of a job in items
// what ended in its time. Of a worker that computed nothing in it the last slots before: it is as fast as it was then,
// as far as anybody knows.
JobTrace part_of(const JobTrace& trace, const Window& window);

}  // namespace ballast::insight
