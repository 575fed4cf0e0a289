// The oldest step that is open, as the shards' reports show it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "protocol/ids.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// Which slots can be late that somebody has computed. A lane calls the lowest work first, and what it has not called
// waits for it: so of each lane only the slot that it wants next can be, of whoever does not offer it there.
struct WantedSlots {
  SlotSet of_anybody;                              // some lanes lack them, and tell nothing of what they want
  std::map<Slot, std::vector<SessionId>> offered;  // by slot that some lane wants next: who offers it to all of these
  // As some lane says: sessions that are out of good standing there, and those that send nothing of what is called.
  std::set<SessionId> out_of_standing = {};
  std::set<SessionId> unpaying = {};

  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(of_anybody), listed::plain(offered, out_of_standing, unpaying));
  }
};

struct OpenStep {
  explicit OpenStep(Slot slots) : missing(slots), wanted{SlotSet(slots), {}} {}

  Step step = 0;
  bool is_observed = false;  // else nothing is known of it
  bool was_slept = false;    // the lead did not run for a while: how late sessions began with it says nothing
  Micros opened = 0;         // when the lead heard of it, or gave out work again
  SlotSet missing;           // slots that some lane lacks
  WantedSlots wanted;

  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(step, is_observed, was_slept), listed::ages(opened),
                       listed::parts(missing, wanted));
  }
};

}  // namespace ballast
