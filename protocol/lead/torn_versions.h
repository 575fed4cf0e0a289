// In rounds: whether one lane has been brought further ahead of another than any honest work can bring it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/state_list.h"

namespace ballast {

// A contribution to a step is made from the weights of every chunk at that version. So at any one instant no two chunks
// are more than one version apart, unless somebody has sent what cannot have been computed, such as whole roots to the
// lanes of one shard. Then nobody can go on: the version that the lane behind needs contributions to is gone elsewhere.
//
// Reports are of different ages, and one lane's old one beside another's new one proves nothing. So whoever stays
// behind is asked anew, by a plan of a new number: what it says while it follows that plan it has said after the
// other's report, and at that instant it is too far behind, or it is not. tests/unit/protocol/lead/torn_model_test.cpp
// has the rule in every order of events. Costs a look at each lane with each tick. Pure and copyable.
class TornVersions {
 public:
  struct Tear {
    LaneId ahead;
    Version reached = 0;  // by a chunk of it
    LaneId behind;
    Step open = 0;              // the oldest version of its chunks
    std::vector<SessionId> by;  // some of those who brought the one ahead to `reached`; none: its server does not tell
    bool operator==(const Tear&) const = default;
  };

  // A lane is asked when it has stayed behind for so long.
  explicit TornVersions(Micros after) : after_(after) {}

  // By the newest reports of all lanes, which all serve the timeline, of a job of so many steps.
  void observe(const ShardRoster::Lanes& lanes, Step steps, Micros now);
  // The lane that is to be asked anew now.
  [[nodiscard]] std::optional<LaneId> to_be_asked(Micros now) const;
  // By the plan of this number.
  void asked(LeadNumber number);
  // It has answered, and is too far behind.
  [[nodiscard]] const std::optional<Tear>& found() const { return found_; }
  // Another timeline begins.
  void rewind();

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(after_), listed::parts(suspect_), listed::plain(found_));
  }

 private:
  struct Suspect {
    Tear tear;
    Micros since = 0;
    LeadNumber asked = kNoLeadNumber;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(tear), listed::ages(since), listed::names(asked));
    }
  };

  Micros after_;
  std::optional<Suspect> suspect_;
  std::optional<Tear> found_;
};

}  // namespace ballast
