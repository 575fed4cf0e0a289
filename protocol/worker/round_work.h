// A session's work in rounds: slots of steps, by standing ranges and by orders for the open step.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

// What is ordered of the open step comes first, then the standing ranges. Slots that this session has computed are not
// computed again. Pure and copyable.
class RoundWork {
 public:
  struct Rules {
    bool operator==(const Rules&) const = default;
  };

  RoundWork(Slot slots, Rules /*rules*/) : slots_(slots), begun_(slots) {}

  // A newer order; `begins`: of a newer timeline.
  void take(const Assign& assign, bool begins);
  std::optional<WorkerTarget> next();
  // The slots of the target that is being computed, as orders are now; none if they are what they were.
  std::optional<std::vector<SlotRange>> amend(const WorkerTarget& target);
  // All of its weights are here: the steps before it are updated, and no order is about them any more.
  void begins(const WorkerTarget& target);
  // Of the target's step.
  void begun(Slot slot);
  void computed(const WorkerTarget& target);
  // What was computed of the step's slots is given up: they are to be computed again.
  void give_up(Step step, SlotRange slots);
  // No contribution expires in rounds.
  static void drop(Step /*step*/, Slot /*slot*/) {}
  // The standing range of the step after the target's.
  [[nodiscard]] std::optional<SlotsAhead> after(const WorkerTarget& target) const;
  // What to ask for along with the last gradient of a chunk, for which `asked` has been asked already.
  [[nodiscard]] std::optional<WeightsKey> next_key(const WorkerTarget& target, std::optional<WeightsKey> asked) const;
  // A chunk of this version is gone and already at `newest`: every chunk is at newest - 1 at least, so that is the
  // oldest step that can still be open.
  void gone(Version version, Version newest);

  [[nodiscard]] static bool shares_slots() { return true; }
  // Of the step that is being computed, or was last, the slots that were begun.
  [[nodiscard]] SlotSet begun_of(Step step) const;
  // By the computation that runs.
  [[nodiscard]] const SlotSet& begun_now() const { return begun_; }
  // The step that it means to compute next.
  [[nodiscard]] Step step() const { return cursor_; }
  // A chunk's version once so many steps are updated.
  [[nodiscard]] static Version updates(Step step) { return step; }
  [[nodiscard]] static ReceiptScope scope(const WorkerTarget& target) { return {target.step, kNoSlot}; }
  // What a contribution says of the chunk's version that it was computed from: its step says it.
  [[nodiscard]] static Version computed_from(Version /*version*/) { return 0; }
  // A chunk of this version is a receipt for all contributions to steps before it.
  [[nodiscard]] static std::optional<Step> covered_by(Version version) { return version; }
  // Standing ranges do not run out, and have no clocks; a contribution rests on its step's version alone.
  [[nodiscard]] static bool is_short() { return false; }
  [[nodiscard]] static std::vector<Grant> computed_grants() { return {}; }
  [[nodiscard]] static std::vector<LeadNumber> dropped_grants() { return {}; }
  [[nodiscard]] static bool has_marks() { return false; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_, standing_, now_, updated_, cursor_, told_), listed::parts(done_, begun_));
  }

 private:
  [[nodiscard]] const Standing* standing_at(Step step) const;
  [[nodiscard]] std::vector<SlotRange> ordered(Step step) const;
  [[nodiscard]] std::vector<SlotRange> left(Step step) const;
  void move_cursor();
  void forget_updated();
  void forget_done();

  Slot slots_;
  std::vector<Standing> standing_;  // disjoint in steps, ascending
  std::optional<StepWork> now_;
  Step updated_ = 0;  // the steps before it are
  Step cursor_ = 0;
  std::vector<SlotRange> told_;   // the slots of the computation that runs, as its shell knows them
  std::map<Step, SlotSet> done_;  // by computations that have ended
  SlotSet begun_;                 // by the one that runs
};

}  // namespace ballast
