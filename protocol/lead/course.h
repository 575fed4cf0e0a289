// A job's course: in rounds, or item by item. Chosen once, when the lead is made.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/ids.h"
#include "protocol/lead/evaluations.h"
#include "protocol/lead/item_course.h"
#include "protocol/lead/round_course.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Knows which step is open by the shards' reports, who is to compute what of it, and where all stop together.
// Pure and copyable. Not thread-safe.
class Course {
 private:
  using Chosen = std::variant<RoundCourse, ItemCourse>;

  template <typename Call>
  decltype(auto) visit(Call&& call) {
    return std::visit(std::forward<Call>(call), course_);
  }
  template <typename Call>
  decltype(auto) visit(Call&& call) const {
    return std::visit(std::forward<Call>(call), course_);
  }

 public:
  using Rules = std::variant<RoundCourse::Rules, ItemCourse::Rules>;

  explicit Course(const Rules& rules) : course_(std::visit([](const auto& own) { return make(own); }, rules)) {}

  // ---- where the job is

  // The oldest step of which some chunk lacks something.
  [[nodiscard]] Step open_step() const {
    return visit([](const auto& own) { return own.open_step(); });
  }
  // Of a chunk, for so many steps.
  [[nodiscard]] Version updates(Step step) const {
    return visit([&](const auto& own) { return own.updates(step); });
  }
  // Of the standing ranges; 0: there are none.
  [[nodiscard]] Generation generation() const {
    return visit([](const auto& own) { return own.generation(); });
  }
  // Work given to a second session while the first still had it.
  [[nodiscard]] std::uint64_t backups() const {
    return visit([](const auto& own) { return own.backups(); });
  }
  // Sessions that still have in hand what others have brought, and since when.
  [[nodiscard]] std::map<SessionId, Micros> overtaken() const {
    return visit([](const auto& own) { return own.overtaken(); });
  }
  // What is known of a session's speed and share, and how many slots changed hands, as far as the mode knows such.
  void tell(SessionId session, SessionStatus& status) const {
    visit([&](const auto& own) { own.tell(session, status); });
  }
  void tell(Status& status) const {
    visit([&](const auto& own) { own.tell(status); });
  }
  // Whether honest work never brings two chunks more than a version apart. In item mode each has versions of its own,
  // and nothing is taken ahead of its item's plan.
  [[nodiscard]] bool keeps_versions_together() const {
    return visit([](const auto& own) { return own.keeps_versions_together(); });
  }
  // Whether some chunk has more than the steps before `step`.
  [[nodiscard]] bool is_beyond(const ShardRoster& shards, Step step) const {
    return visit([&](const auto& own) { return own.is_beyond(shards, step); });
  }
  // The same of one lane, where a step of all is not the question. A lane without chunks is beyond nothing.
  [[nodiscard]] bool has_passed(const LaneReport& report, Step step) const {
    return visit([&](const auto& own) { return own.has_passed(report, step); });
  }
  // The first step of which nobody has anything, nor has been given anything in item mode.
  [[nodiscard]] Step untouched(const ShardRoster& shards) const {
    return visit([&](const auto& own) { return own.untouched(shards); });
  }
  // The first update that the lane lacks.
  [[nodiscard]] Version first_missing(const LaneReport& report) const {
    return visit([&](const auto& own) { return own.first_missing(report); });
  }

  // ---- what happens

  // The job is taken back: what was given out and observed is forgotten.
  void rewind(Step base) {
    visit([&](auto& own) { own.rewind(base); });
  }
  // Training begins, at the timeline's base or where the shards are.
  void begin(const std::vector<SessionId>& sessions, Step base) {
    visit([&](auto& own) { own.begin(sessions, base); });
  }
  // Work is given out (again) from now on.
  void reopen(Micros now) {
    visit([&](auto& own) { own.reopen(now); });
  }
  // By the newest reports of the lanes that have news since the last call. All serve the timeline.
  void observe(const ShardRoster& shards, const std::set<LaneId>& news, Micros now) {
    visit([&](auto& own) { own.observe(shards, news, now); });
  }
  // Likewise, while nothing is given out.
  void observe_idle(const ShardRoster& shards, const std::set<LaneId>& news, Micros now) {
    visit([&](auto& own) { own.observe_idle(shards, news, now); });
  }
  void members_changed(const std::vector<SessionId>& sessions, Step limit) {
    visit([&](auto& own) { own.members_changed(sessions, limit); });
  }
  // The session has every receipt of the grants with these clocks.
  void delivered(SessionId session, const std::vector<LeadNumber>& clocks, Micros now) {
    visit([&](auto& own) { own.delivered(session, clocks, now); });
  }
  // The session has given up the grants of these clocks: their items are missing again.
  void dropped(SessionId session, const std::vector<LeadNumber>& clocks, Micros now) {
    visit([&](auto& own) { own.dropped(session, clocks, now); });
  }
  void lose(SessionId session) {
    visit([&](auto& own) { own.lose(session); });
  }
  // It joins, and goes by orders of which nobody here may know: another lead's, or from before it was lost.
  void has_orders(SessionId session) {
    visit([&](auto& own) { own.has_orders(session); });
  }
  // Updates in one plan, where plans reach `ahead`.
  [[nodiscard]] std::uint32_t planned_at_once(std::uint32_t ahead) const {
    return visit([&](const auto& own) { return own.planned_at_once(ahead); });
  }
  // What training.non_finite may be instead of halt, in words.
  [[nodiscard]] std::string_view non_finite_remedies() const {
    return visit([](const auto& own) { return own.non_finite_remedies(); });
  }
  // Gives out what is missing before step `limit`. `suspects` are not counted on.
  void hand_out(const std::vector<SessionId>& sessions, const std::set<SessionId>& suspects, const ShardRoster& shards,
                Step limit, Micros now) {
    visit([&](auto& own) { own.hand_out(sessions, suspects, shards, limit, now); });
  }
  // The lead did not run for so long.
  void forgive(Micros slept) {
    visit([&](auto& own) { own.forgive(slept); });
  }
  // It is so late, by the clock of `now` below, which is that of the last tick: slots are measured by it.
  void at(Micros moment) {
    visit([&](auto& own) { own.at(moment); });
  }
  // How far the session is: whether something may be given out that could not be before.
  bool heard(SessionId session, const SlotProgress& progress) {
    return visit([&](auto& own) { return own.heard(session, progress); });
  }
  // Why the session is not counted on; empty if it is.
  [[nodiscard]] std::string held_up(SessionId session) const {
    return visit([&](const auto& own) { return own.held_up(session); });
  }
  // Who computes which slots of the open step; null in item mode.
  [[nodiscard]] const SlotShares* shares() const {
    return visit([](const auto& own) { return own.shares(); });
  }
  // Whose work is another than when this was asked last.
  std::set<SessionId> take_changed() {
    return visit([](auto& own) { return own.take_changed(); });
  }
  // What the session has to compute. `trains`: open work as well, not just standing ranges.
  void tell(SessionId session, Step limit, bool trains, Assign& assign) {
    visit([&](auto& own) { own.tell(session, limit, trains, assign); });
  }
  // Whether anybody was told to compute something of step `from` or a later one, since the last rewind.
  [[nodiscard]] bool has_given_out(Step from) const {
    return visit([&](const auto& own) { return own.has_given_out(from); });
  }

  // ---- where all stop together

  [[nodiscard]] Step next_barrier(Step after, const Evaluations& evaluations) const {
    return visit([&](const auto& own) { return own.next_barrier(after, evaluations); });
  }
  // Whether all stop at cuts: states of the whole model that are recorded before anything rests on them. Elsewhere each
  // version is one.
  [[nodiscard]] bool has_cuts() const {
    return visit([](const auto& own) { return own.has_cuts(); });
  }
  // Whether each lane has exactly the items before the step, in a report that it made while it followed the plan: until
  // it hears of another it takes no other. In a journaled job its journal is synced with them.
  [[nodiscard]] bool is_cut(const ShardRoster& shards, Step step, LeadNumber plan) const {
    return visit([&](const auto& own) { return own.is_cut(shards, step, plan); });
  }
  // Whether a snapshot is due at a cut; others fall due by SnapshotSchedule.
  [[nodiscard]] bool is_due_at(Step cut) const {
    return visit([&](const auto& own) { return own.is_due_at(cut); });
  }

  // ---- shards that come back within the timeline

  // Whether they may, with what their journals hold.
  [[nodiscard]] bool resumes_shards() const {
    return visit([](const auto& own) { return own.resumes_shards(); });
  }
  // Of a report of the timeline: what it was built upon.
  void take_marks(const LaneReport& report) {
    visit([&](auto& own) { own.take_marks(report); });
  }
  // Its reports will say what it has; what others were granted goes on.
  void shard_resumed() {
    visit([](auto& own) { own.shard_resumed(); });
  }
  // A shard has said what lives it had.
  void lives_told() {
    visit([](auto& own) { own.lives_told(); });
  }
  // Whether something is lost that was built upon, so that the job has to go back as a whole: for which cause.
  bool is_broken(const ShardRoster& shards) {
    return visit([&](auto& own) { return own.is_broken(shards); });
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(course_));
  }

 private:
  static Chosen make(const RoundCourse::Rules& rules) { return RoundCourse(rules); }
  static Chosen make(const ItemCourse::Rules& rules) { return ItemCourse(rules); }

  Chosen course_;
};

}  // namespace ballast
