// Whose word the lead takes that it has computed a slot, though it has brought nothing yet.
#pragma once

#include <cstdint>

#include "protocol/ids.h"
#include "protocol/lead/open_step.h"
#include "protocol/lead/slot_holder.h"
#include "protocol/state_list.h"

namespace ballast {

// What a lane has no room for it calls when all before it has come. By then the holder of a slot that another session
// tries would have it as well, and without any room no trial would ever show anything. So one session in a step is
// *believed* that it has computed its trial: the slot's holder leaves it out, and nobody else takes it as long as it may
// come. Whoever then brings nothing was believed in vain: after n such steps in a row 2^n - 1 are without a claim. Pure
// and copyable.
class TrialClaim {
 public:
  static constexpr std::uint32_t kMostInVain = 6;  // that count

  // Whether the session has computed the slot, by its own word, and offers it to all lanes that want it next.
  [[nodiscard]] static bool may_come(SessionId session, const SlotHolder& own, Slot slot, const OpenStep& open);

  // Somebody may be believed in the step.
  [[nodiscard]] bool is_free(Step open) const { return session_ == 0 && open >= from_; }
  void believe(SessionId session, Slot slot);
  // Who is, in the open step; 0: nobody.
  [[nodiscard]] SessionId session() const { return session_; }
  [[nodiscard]] Slot slot() const { return slot_; }
  // The step is over. `was_true`: whoever was believed has brought something.
  void close(bool was_true, Step next);
  void rewind();

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(session_), listed::plain(slot_, from_, in_vain_));
  }

 private:
  SessionId session_ = 0;
  Slot slot_ = kNoSlot;
  Step from_ = 0;              // nobody is believed in steps before it
  std::uint32_t in_vain_ = 0;  // claims in a row
};

}  // namespace ballast
