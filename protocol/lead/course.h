// A job's course: in rounds, or item by item. Chosen once, when the lead is made.
#pragma once

#include <cstdint>
#include <optional>
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
#include "protocol/messages.h"
#include "protocol/rollbacks.h"
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
  // By the shards' newest reports. Costs as much as there are lanes.
  void observe(const ShardRoster& shards, Micros now) {
    visit([&](auto& own) { own.observe(shards, now); });
  }
  // Likewise, while nothing is given out.
  void observe_idle(const ShardRoster& shards, Micros now) {
    visit([&](auto& own) { own.observe_idle(shards, now); });
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
  // Updates in one plan, where plans reach `ahead`.
  [[nodiscard]] std::uint32_t planned_at_once(std::uint32_t ahead) const {
    return visit([&](const auto& own) { return own.planned_at_once(ahead); });
  }
  // What training.non_finite may be instead of halt, in words.
  [[nodiscard]] std::string_view non_finite_remedies() const {
    return visit([](const auto& own) { return own.non_finite_remedies(); });
  }
  // Gives out what is missing before step `limit`.
  void hand_out(const std::vector<SessionId>& sessions, const ShardRoster& shards, Step limit, Micros now) {
    visit([&](auto& own) { own.hand_out(sessions, shards, limit, now); });
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
  // No work of this step or later is given out yet. `stand`: where all stop for now; `snapshots`: that are ordered.
  [[nodiscard]] Step limit(Step stand, const std::set<Step>& snapshots) const {
    return visit([&](const auto& own) { return own.limit(stand, snapshots); });
  }
  // Whether a snapshot is due at a barrier because all are there; others fall due by SnapshotSchedule.
  [[nodiscard]] bool orders_at(Step barrier) const {
    return visit([&](const auto& own) { return own.orders_at(barrier); });
  }
  // Whether a snapshot that an earlier lead ordered is a cut: no part of it rests on work beyond its step.
  [[nodiscard]] bool is_still_a_cut(Step step, const ShardRoster& shards, const Evaluations& evaluations) const {
    return visit([&](const auto& own) { return own.is_still_a_cut(step, shards, evaluations); });
  }
  // A shard has lost something before the step, perhaps after others went on: no snapshot of it is a cut.
  [[nodiscard]] bool is_spoilt(Step step) const {
    return visit([&](const auto& own) { return own.is_spoilt(step); });
  }

  // ---- shards that come back within the timeline

  // Whether they may, with what their journals hold.
  [[nodiscard]] bool resumes_shards() const {
    return visit([](const auto& own) { return own.resumes_shards(); });
  }
  // Of a lane's report and the one before it.
  void note_gap(const LaneReport& before, const LaneReport& report) {
    visit([&](auto& own) { own.note_gap(before, report); });
  }
  // Of a report of the timeline, by a lane that serves: what it was built upon, and what it has lost, which counts
  // however soon it is made up for. `evaluated`: all had come to this step, and it was evaluated, is being evaluated,
  // or was passed as a barrier.
  void take_marks(const LaneReport& report, Step evaluated) {
    visit([&](auto& own) { own.take_marks(report, evaluated); });
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
  std::optional<RollbackCause> why_broken(const ShardRoster& shards) {
    return visit([&](auto& own) { return own.why_broken(shards); });
  }
  // Whether a barrier at which a leg is to end cannot be one any more, for somebody has gone beyond it.
  [[nodiscard]] bool is_undone(const ShardRoster& shards, Step barrier) const {
    return visit([&](const auto& own) { return own.is_undone(shards, barrier); });
  }

  // All of it.
  [[nodiscard]] auto state() const { return listed::all(listed::parts(course_)); }

 private:
  static Chosen make(const RoundCourse::Rules& rules) { return RoundCourse(rules); }
  static Chosen make(const ItemCourse::Rules& rules) { return ItemCourse(rules); }

  Chosen course_;
};
static_assert(lists_all_members<Course>());

}  // namespace ballast
