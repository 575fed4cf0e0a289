// The training loss of whole steps, as the lane that has the statistics chunk collects it for the lead.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// A step's statistics come in parts, in any order: the whole step at once, or one for each of its items. They are
// passed on by whole steps, without a gap.
// Pure and copyable. Not thread-safe.
class LaneStatistics {
 public:
  // `owned`: the lane has the statistics chunk. `parts`: of each step.
  LaneStatistics(bool owned, Slot parts) : owned_(owned), parts_(parts) {}

  // Nothing is to be told any more.
  void clear() { whole_.clear(); }
  // The first ones to come are those of step `first`.
  void begin(Step first);
  void add(const StepStatistics& part);
  // The lead has all of the steps before.
  void confirmed(Step end);

  // Whether those of the steps before `open` are still to come.
  [[nodiscard]] bool awaits(Step open) const;
  // Not confirmed, in the order of their steps, without a gap; at most `most`.
  [[nodiscard]] std::vector<StepStatistics> oldest(std::size_t most) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(owned_, parts_, first_, next_, partial_, whole_));
  }

 private:
  struct Sum {
    Slot parts = 0;
    StepStatistics total;
    bool operator==(const Sum&) const = default;
  };

  bool owned_;
  Slot parts_;
  Step first_ = 0;
  Step next_ = 0;  // the first that is not whole
  std::map<Step, Sum> partial_;
  std::vector<StepStatistics> whole_;
};

}  // namespace ballast
