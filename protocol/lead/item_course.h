// A job's course in item mode: each item, a slot of a step, is an update of its own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/evaluations.h"
#include "protocol/lead/item_grants.h"
#include "protocol/lead/item_progress.h"
#include "protocol/lead/resuming_shards.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Training goes in legs from cut to cut: nobody is granted an item beyond the next one before every chunk has all items
// before it, and no lane takes one.
// Course says what each of these is asked.
class ItemCourse {
 public:
  struct Rules {
    Slot slots = 1;
    Step steps = 1;
    Step snapshot_every = 0;  // steps; 0: only at the end
    bool journaled = false;   // a shard that comes back goes on in the same timeline, if nothing was lost
    ItemGrants::Limits grants;
    bool operator==(const Rules&) const = default;
  };

  explicit ItemCourse(const Rules& rules) : rules_(rules), progress_(rules.steps), grants_(rules.grants) {}

  [[nodiscard]] Step open_step() const { return grants_.covered().floor() / rules_.slots; }
  [[nodiscard]] Version updates(Step step) const { return step * rules_.slots; }
  [[nodiscard]] Generation generation() const { return 0; }
  [[nodiscard]] static bool keeps_versions_together() { return false; }
  [[nodiscard]] std::uint64_t backups() const { return grants_.backups(); }
  [[nodiscard]] std::map<SessionId, Micros> overtaken() const { return grants_.overtaken(); }

  void rewind(Step base);
  void begin(const std::vector<SessionId>& sessions, Step /*base*/) { grants_.set_sessions(sessions); }
  void reopen(Micros /*now*/) {}
  void observe(const ShardRoster& shards, const std::set<LaneId>& news, Micros now);
  void observe_idle(const ShardRoster& shards, const std::set<LaneId>& news, Micros now) { observe(shards, news, now); }
  void members_changed(const std::vector<SessionId>& sessions, Step /*limit*/) { grants_.set_sessions(sessions); }
  void delivered(SessionId session, const std::vector<LeadNumber>& clocks, Micros now);
  void dropped(SessionId session, const std::vector<LeadNumber>& clocks, Micros now);
  void lose(SessionId session) { grants_.lose(session); }
  // An order names all of its grants.
  static void has_orders(SessionId /*session*/) {}
  static void forgive(Micros /*slept*/) {}
  static void at(Micros /*moment*/) {}
  static bool heard(SessionId /*session*/, const SlotProgress& /*progress*/) { return false; }
  [[nodiscard]] static std::string held_up(SessionId /*session*/) { return {}; }
  [[nodiscard]] static const SlotShares* shares() { return nullptr; }
  void hand_out(const std::vector<SessionId>& /*sessions*/, const std::set<SessionId>& suspects,
                const ShardRoster& shards, Step limit, Micros now) {
    hand_out(suspects, shards, limit, now);
  }
  std::set<SessionId> take_changed() { return grants_.take_changed(); }
  static void tell(SessionId /*session*/, SessionStatus& /*status*/) {}
  static void tell(Status& /*status*/) {}
  void tell(SessionId session, Step limit, bool trains, Assign& assign) const;
  [[nodiscard]] bool has_given_out(Step from) const { return grants_.granted_until() > updates(from); }

  [[nodiscard]] Step next_barrier(Step after, const Evaluations& evaluations) const;
  [[nodiscard]] Step untouched(const ShardRoster& shards) const;
  [[nodiscard]] bool is_beyond(const ShardRoster& shards, Step step) const;

  [[nodiscard]] bool has_cuts() const { return true; }
  [[nodiscard]] bool is_cut(const ShardRoster& shards, Step step, LeadNumber plan) const;
  [[nodiscard]] bool is_due_at(Step cut) const { return rules_.snapshot_every > 0 && cut % rules_.snapshot_every == 0; }
  [[nodiscard]] bool has_passed(const LaneReport& report, Step step) const;

  [[nodiscard]] std::uint32_t planned_at_once(std::uint32_t /*ahead*/) const { return kMaxPlanned; }
  [[nodiscard]] std::string_view non_finite_remedies() const { return "skip"; }
  [[nodiscard]] Version first_missing(const LaneReport& report) const;

  [[nodiscard]] bool resumes_shards() const { return rules_.journaled; }
  void take_marks(const LaneReport& report);
  void shard_resumed() { grants_.doubt_delivered(); }
  void lives_told() { resuming_.lives_told(); }
  bool is_broken(const ShardRoster& shards) { return rules_.journaled && resuming_.is_broken(shards); }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(rules_), listed::parts(progress_, grants_, resuming_));
  }

 private:
  void hand_out(const std::set<SessionId>& suspects, const ShardRoster& shards, Step limit, Micros now);
  [[nodiscard]] ItemId reached(const ShardRoster& shards) const;

  Rules rules_;
  ItemProgress progress_;
  ItemGrants grants_;
  ResumingShards resuming_;
};

}  // namespace ballast
