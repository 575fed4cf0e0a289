// In rounds: the oldest step that some lane has open, and the slots that some lane lacks of it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/open_step.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"

namespace ballast {

// Kept up with each lane's report, at the cost of what it changes. When the step changes it costs a look at each lane.
// Pure and copyable. Not thread-safe.
class RoundProgress {
 public:
  // A lane at step `steps` lacks nothing any more, or has no chunks.
  RoundProgress(Slot slots, Step steps) : slots_(slots), steps_(steps), lacking_(slots), missing_(slots) {}

  // The lane's newest report.
  void take(LaneId lane, const LaneReport& report);
  void rewind() { *this = RoundProgress(slots_, steps_); }

  // `steps`: no lane lacks anything.
  [[nodiscard]] Step open_step() const;
  [[nodiscard]] const SlotSet& missing() const { return missing_; }

  // Costs a look at each lane.
  [[nodiscard]] WantedSlots wanted() const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_, steps_), listed::parts(lanes_), listed::plain(at_, lacking_),
                       listed::parts(missing_));
  }

 private:
  struct Lane {
    Step open = 0;
    SlotSet missing;
    Slot wanted = kNoSlot;
    std::vector<SessionId> offered_by = {};
    std::vector<SessionId> out_of_standing = {};
    std::vector<SessionId> unpaying = {};

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(open), listed::parts(missing),
                         listed::plain(wanted, offered_by, out_of_standing, unpaying));
    }
  };

  void move(const Lane& from, const Lane& to, Step open);
  void recount();

  Slot slots_;
  Step steps_;
  std::map<LaneId, Lane> lanes_;
  std::map<Step, std::uint32_t> at_;    // lanes that lack something, by their open step
  std::vector<std::uint32_t> lacking_;  // by slot: lanes that lack it of the oldest open step
  SlotSet missing_;                     // slots that some of them lack
};

}  // namespace ballast
