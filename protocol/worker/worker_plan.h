// What a session has to do next, from the orders it was given.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"
#include "protocol/worker/item_work.h"
#include "protocol/worker/ordered_evaluation.h"
#include "protocol/worker/round_work.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

// Evaluation comes first (the others wait for it), then what the job's mode has to train: in rounds or in item mode,
// which is chosen once. Pure and copyable.
class WorkerPlan {
 private:
  using Work = std::variant<RoundWork, ItemWork>;

  template <typename Call>
  decltype(auto) visit(Call&& call) {
    return std::visit(std::forward<Call>(call), work_);
  }
  template <typename Call>
  decltype(auto) visit(Call&& call) const {
    return std::visit(std::forward<Call>(call), work_);
  }

 public:
  using Rules = std::variant<RoundWork::Rules, ItemWork::Rules>;

  // `averages`: evaluations are of the weights' moving averages.
  explicit WorkerPlan(Slot slots, const Rules& rules = {}, bool averages = false)
      : averages_(averages), work_(std::visit([&](auto own) { return make(slots, own); }, rules)) {}

  // False if the order is no newer than the last one: by timeline, then by number.
  bool take(const Assign& assign);
  WorkerTarget next();
  // The training that follows the target, as far as it is known.
  [[nodiscard]] std::optional<SlotsAhead> after(const WorkerTarget& target) const {
    return visit([&](const auto& own) { return own.after(target); });
  }
  // What to ask for along with the last gradient of a chunk, for which `asked` has been asked already.
  [[nodiscard]] std::optional<WeightsKey> next_key(const WorkerTarget& target, std::optional<WeightsKey> asked) const {
    return visit([&](const auto& own) { return own.next_key(target, asked); });
  }
  // The slots of the target, which is being computed, as orders are now; none if they are what they were.
  std::optional<std::vector<SlotRange>> amend(const WorkerTarget& target) {
    return visit([&](auto& own) { return own.amend(target); });
  }
  // The target is going to be computed: all of its weights are here.
  void begins(const WorkerTarget& target) {
    visit([&](auto& own) { own.begins(target); });
  }
  // A slot of it is being computed: nobody can take it back.
  void begun(Slot slot) {
    visit([&](auto& own) { own.begun(slot); });
  }
  void computed(const WorkerTarget& target) {
    visit([&](auto& own) { own.computed(target); });
  }
  // What was computed for the slot of the step is given up.
  void drop(Step step, Slot slot) {
    visit([&](auto& own) { own.drop(step, slot); });
  }
  // What was computed of the step's slots is given up for want of a buffer: in rounds they are computed again.
  void give_up(Step step, SlotRange slots) {
    visit([&](auto& own) { own.give_up(step, slots); });
  }
  // A version of a chunk, or the average at it, is to be had no more.
  void gone(const Gone& gone);

  [[nodiscard]] OrderedEvaluation& evaluation() { return evaluation_; }
  [[nodiscard]] const OrderedEvaluation& evaluation() const { return evaluation_; }

  [[nodiscard]] LeadNumber order() const { return order_; }
  [[nodiscard]] Timeline timeline() const { return timeline_; }
  // What it tells of itself: the step that it means to compute next; in item mode that of the newest grant.
  [[nodiscard]] Step step() const {
    return visit([](const auto& own) { return own.step(); });
  }

  // ---- what contributions and receipts mean in this mode: see RoundWork and ItemWork

  [[nodiscard]] ReceiptScope scope(const WorkerTarget& target) const {
    return visit([&](const auto& own) { return own.scope(target); });
  }
  [[nodiscard]] Version computed_from(Version version) const {
    return visit([&](const auto& own) { return own.computed_from(version); });
  }
  [[nodiscard]] std::optional<Step> covered_by(Version version) const {
    return visit([&](const auto& own) { return own.covered_by(version); });
  }
  [[nodiscard]] bool is_short() const {
    return visit([](const auto& own) { return own.is_short(); });
  }
  [[nodiscard]] std::vector<Grant> computed_grants() const {
    return visit([](const auto& own) { return own.computed_grants(); });
  }
  [[nodiscard]] std::vector<LeadNumber> dropped_grants() const {
    return visit([](const auto& own) { return own.dropped_grants(); });
  }
  // Whether the lead shares out slots by what sessions have begun.
  [[nodiscard]] bool shares_slots() const {
    return visit([](const auto& own) { return own.shares_slots(); });
  }
  [[nodiscard]] SlotSet begun_now() const {
    return visit([](const auto& own) { return SlotSet(own.begun_now()); });
  }
  [[nodiscard]] SlotSet begun_of(Step step) const {
    return visit([&](const auto& own) { return own.begun_of(step); });
  }
  [[nodiscard]] bool has_marks() const {
    return visit([](const auto& own) { return own.has_marks(); });
  }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(order_), listed::plain(timeline_), listed::parts(evaluation_),
                       listed::fixed(averages_), listed::parts(work_));
  }

 private:
  static Work make(Slot slots, RoundWork::Rules rules) { return RoundWork(slots, rules); }
  static Work make(Slot slots, ItemWork::Rules rules) { return ItemWork(slots, rules); }

  LeadNumber order_;
  Timeline timeline_ = 0;
  OrderedEvaluation evaluation_;
  bool averages_;
  Work work_;
};

}  // namespace ballast
