// The oldest step that is open, as the shards' reports show it.
#pragma once

#include "protocol/ids.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

struct OpenStep {
  explicit OpenStep(Slot slots) : missing(slots) {}

  Step step = 0;
  bool is_observed = false;  // else nothing is known of it
  Micros opened = 0;         // when the lead heard of it, or gave out work again
  SlotSet missing;           // slots that some lane lacks

  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(step, is_observed), listed::ages(opened), listed::parts(missing));
  }
};

}  // namespace ballast
