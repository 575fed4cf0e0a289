// One of the sessions that compute the slots of the open step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "protocol/ids.h"
#include "protocol/lead/open_step.h"
#include "protocol/lead/slot_session.h"
#include "protocol/lead/step_share.h"
#include "protocol/lead/suspicion.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// What a session has begun is what it has computed, by its own word, and the slot in hand. Each question costs a look
// at its ranges, and at the words of a step's slots. Pure and copyable.
struct SlotHolder {
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  explicit SlotHolder(Slot slots) : seen(slots) {}

  SlotSession seen;
  StepShare share;
  Suspicion suspicion;
  std::size_t place = kNowhere;  // among those that slots are shared out to
  std::uint64_t turn = 0;        // among those that wait for a slot to show what they can do, the lowest first: at a
                                 // trial, and where all are suspected

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(seen, share, suspicion), listed::plain(place), listed::names(turn));
  }

  [[nodiscard]] bool takes_part() const { return place != kNowhere; }
  // Divisions give it a range. Without credit they do only where nobody has any.
  [[nodiscard]] bool keeps_share() const;
  // Takes out of the set what it has begun.
  void erase_begun(const OpenStep& open, SlotSet& slots) const;
  // The range's first slot that is missing and not begun; its end: there is none, as for a session that has passed the
  // step.
  [[nodiscard]] Slot next_left(const OpenStep& open, SlotRange range) const;
  // It has a share of the open step, or has begun a slot of it.
  [[nodiscard]] bool has_some_of(const OpenStep& open) const;
  // Whether there is one in its share.
  [[nodiscard]] bool has_left(const OpenStep& open) const;
  // It has one left, or one in hand that is missing.
  [[nodiscard]] bool is_at_work(const OpenStep& open) const;
  // Something is missing of its share, or of what it has begun, which nobody else brings while it is counted on. What
  // it has computed and offers is not: it waits to be called. Nobody waits for a trial, but for one who has credit and
  // is at it: until then it takes nothing else. `session`: whose this is.
  [[nodiscard]] bool is_awaited(const OpenStep& open, SessionId session) const;
};

}  // namespace ballast
