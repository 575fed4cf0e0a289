// Who computes which slots of every step until further notice.
#pragma once

#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Each division holds from some step on, until a newer one does. Pure and copyable.
class StandingRanges {
 public:
  using Ranges = std::map<SessionId, SlotRange>;

  // From the step on: a new generation.
  void divide(Ranges ranges, Step from);
  void lose(SessionId session);
  // Those of steps before `open` are forgotten.
  void forget_before(Step open);
  void rewind() { divisions_.clear(); }

  [[nodiscard]] Generation generation() const { return generation_; }
  // Whether there is a division that holds at the step; then, of that.
  [[nodiscard]] bool holds_at(Step step) const { return !divisions_.empty() && divisions_.front().from <= step; }
  // Of the step, which must not be forgotten: empty if no division holds yet.
  [[nodiscard]] const Ranges& at(Step step) const;
  // The newest division, which may hold only later.
  [[nodiscard]] const Ranges& newest() const;
  [[nodiscard]] bool empty() const { return divisions_.empty(); }
  // As the newest division has it.
  [[nodiscard]] Standing standing(SessionId session, Step until) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(generation_), listed::plain(divisions_));
  }

 private:
  struct Division {
    Step from = 0;
    Ranges ranges;
    bool operator==(const Division&) const = default;
  };

  Generation generation_ = 0;
  std::vector<Division> divisions_;  // ascending by `from`
};

}  // namespace ballast
