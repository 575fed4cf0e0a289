// Who computes which slots: the standing ranges, and the work of the oldest open step that nobody is bringing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// What is missing comes from the shards' reports, never from memory of what was given out; memory only says whom to
// wait for, and for how long. So nothing here need be durable.
class SlotAssignments {
 public:
  explicit SlotAssignments(Slot slots) : slots_(slots), missing_(slots) {}

  // Divides the slots among `sessions`, in order, for steps from `from` on: a new generation.
  void divide(const std::vector<SessionId>& sessions, Step from);
  void lose(SessionId session);
  // What the shards say. Ranges of steps before `open` are forgotten.
  void observe(Step open, const SlotSet& missing, Micros now);

  // The job is taken back: what was given out and observed is forgotten.
  void rewind();

  // Work begins (again) now: nobody is late for the time in which none was given out.
  void reopen(Micros now) { hold_standing_ranges(now); }

  // Gives every missing slot whose holders are all lost, or later than `late`, to a session that has nothing left to
  // bring to this step; a slot that nobody holds goes to the least loaded one if all are busy.
  void hand_out(const std::vector<SessionId>& sessions, Micros now, Micros late);

  // Whose extra work is another than when this was asked last.
  std::set<SessionId> take_changed() { return std::exchange(changed_, {}); }
  [[nodiscard]] Standing standing(SessionId session, Step until) const;
  [[nodiscard]] std::optional<Extra> extra(SessionId session) const;
  [[nodiscard]] Generation generation() const { return generation_; }
  [[nodiscard]] bool observed() const { return observed_; }
  [[nodiscard]] Step open() const { return open_; }
  [[nodiscard]] const SlotSet& missing() const { return missing_; }
  // Whether at least half of the sessions with a standing range of the open step have delivered it.
  [[nodiscard]] bool half_delivered() const;
  // Slots given out beside the standing ranges.
  [[nodiscard]] std::uint64_t handed_out() const { return backups_ + reassigned_; }
  // Slots given to a second session while the first still had them.
  [[nodiscard]] std::uint64_t backups() const { return backups_; }

  // All of it. Whether slots were handed out meanwhile is asked for: the two counts are no accounts.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_), listed::names(generation_), listed::plain(divisions_, open_, observed_),
                       listed::parts(missing_, holders_), listed::plain(extras_, backups_, reassigned_),
                       listed::fixed(changed_));
  }

 private:
  struct Division {
    Step from = 0;
    std::map<SessionId, SlotRange> ranges;
    bool operator==(const Division&) const = default;
  };
  struct Holder {
    SessionId session = 0;
    Micros since = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(session), listed::ages(since));
    }
  };

  void hold_standing_ranges(Micros now);
  [[nodiscard]] bool is_awaited(Slot slot, Micros now, Micros late) const;
  [[nodiscard]] bool has_open_extra(SessionId session) const;
  [[nodiscard]] std::map<SessionId, std::size_t> loads() const;
  void give(SessionId session, SlotRange range, Micros now);

  Slot slots_;
  Generation generation_ = 0;
  std::vector<Division> divisions_;  // ascending by `from`
  Step open_ = 0;
  bool observed_ = false;
  SlotSet missing_;
  std::vector<std::vector<Holder>> holders_;  // by slot, of the open step
  std::map<SessionId, Extra> extras_;
  std::uint64_t backups_ = 0;
  std::uint64_t reassigned_ = 0;
  std::set<SessionId> changed_;
};

}  // namespace ballast
