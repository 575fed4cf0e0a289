// A job's course in rounds: all slots of a step together make one update.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/evaluations.h"
#include "protocol/lead/round_progress.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Course says what each of these is asked.
class RoundCourse {
 public:
  struct Rules {
    Step steps = 1;
    SlotShares::Rules shares;
    bool operator==(const Rules&) const = default;
  };

  explicit RoundCourse(const Rules& rules)
      : steps_(rules.steps), progress_(rules.shares.step.slots, rules.steps), shares_(rules.shares) {}

  [[nodiscard]] Step open_step() const { return shares_.open(); }
  [[nodiscard]] Version updates(Step step) const { return step; }
  [[nodiscard]] Generation generation() const { return shares_.generation(); }
  [[nodiscard]] static bool keeps_versions_together() { return true; }
  [[nodiscard]] std::uint64_t backups() const { return shares_.backups(); }
  [[nodiscard]] const SlotShares* shares() const { return &shares_; }
  [[nodiscard]] std::map<SessionId, Micros> overtaken() const { return {}; }

  void rewind(Step base);
  void begin(const std::vector<SessionId>& sessions, Step base) { shares_.divide(sessions, base); }
  void reopen(Micros now);
  void observe(const ShardRoster& shards, const std::set<LaneId>& news, Micros now);
  void observe_idle(const ShardRoster& shards, const std::set<LaneId>& news, Micros now);
  void members_changed(const std::vector<SessionId>& sessions, Step limit);
  void delivered(SessionId /*session*/, const std::vector<LeadNumber>& /*clocks*/, Micros /*now*/) {}
  void dropped(SessionId /*session*/, const std::vector<LeadNumber>& /*clocks*/, Micros /*now*/) {}
  void lose(SessionId session) { shares_.lose(session); }
  void has_orders(SessionId session) { shares_.has_orders(session); }
  [[nodiscard]] std::string held_up(SessionId session) const { return shares_.held_up(session); }
  void forgive(Micros slept) { shares_.forgive(slept); }
  void at(Micros moment) { at_ = std::max(at_, moment); }
  bool heard(SessionId session, const SlotProgress& progress) { return shares_.heard(session, progress, at_); }
  void hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& suspects, const ShardRoster& shards,
                Step limit, Micros now);
  std::set<SessionId> take_changed() { return shares_.take_changed(); }
  void tell(SessionId session, Step limit, bool trains, Assign& assign);
  void tell(SessionId session, SessionStatus& status) const;
  void tell(Status& status) const;
  [[nodiscard]] bool has_given_out(Step from) const { return told_until_ > from; }

  [[nodiscard]] Step next_barrier(Step after, const Evaluations& evaluations) const {
    return evaluations.next_after(after);
  }
  [[nodiscard]] Step untouched(const ShardRoster& shards) const { return shards.furthest(steps_, open_step()); }
  [[nodiscard]] bool is_beyond(const ShardRoster& /*shards*/, Step step) const { return open_step() > step; }

  [[nodiscard]] bool has_cuts() const { return false; }
  [[nodiscard]] bool is_cut(const ShardRoster& /*shards*/, Step /*step*/, LeadNumber /*plan*/) const { return true; }
  [[nodiscard]] bool is_due_at(Step /*cut*/) const { return false; }
  [[nodiscard]] bool has_passed(const LaneReport& report, Step step) const {
    return owns_chunks(report, steps_) && std::max(report.open_step, report.rounds.reached) > step;
  }

  [[nodiscard]] std::uint32_t planned_at_once(std::uint32_t ahead) const { return ahead; }
  [[nodiscard]] std::string_view non_finite_remedies() const { return "skip or rollback"; }
  [[nodiscard]] Version first_missing(const LaneReport& report) const { return report.open_step; }

  [[nodiscard]] bool resumes_shards() const { return false; }
  void take_marks(const LaneReport& /*report*/) {}
  void shard_resumed() {}
  void lives_told() {}
  bool is_broken(const ShardRoster& /*shards*/) { return false; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(steps_), listed::parts(progress_, shares_), listed::plain(limit_, told_until_),
                       listed::ages(at_));
  }

 private:
  Step steps_;
  RoundProgress progress_;
  SlotShares shares_;
  Step limit_ = 0;       // work of the steps before it is given out
  Step told_until_ = 0;  // somebody was told to compute steps up to this one
  Micros at_ = 0;        // finer than ticks
};

}  // namespace ballast
