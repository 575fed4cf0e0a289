// A session's work in item mode: the slots that it was granted, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

// Each item is computed once for its grant, from the newest weights after that. Pure and copyable.
class ItemWork {
 public:
  struct Rules {
    bool journaled = false;  // updates are durable by the shards' journals: contributions say what they rest on
    bool operator==(const Rules&) const = default;
  };

  ItemWork(Slot slots, Rules rules) : slots_(slots), journaled_(rules.journaled) {}

  // A newer order; `begins`: of a newer timeline.
  void take(const Assign& assign, bool begins);
  [[nodiscard]] std::optional<WorkerTarget> next() const;
  // Items are computed one by one.
  static std::optional<std::vector<SlotRange>> amend(const WorkerTarget& /*target*/) { return std::nullopt; }
  static void begins(const WorkerTarget& /*target*/) {}
  static void begun(Slot /*slot*/) {}
  void computed(const WorkerTarget& target);
  // What was computed for the slot of the step is given up.
  void drop(Step step, Slot slot);
  // The slot of the grant after the target's.
  [[nodiscard]] std::optional<SlotsAhead> after(const WorkerTarget& target) const;
  // What to ask for along with the last gradient of a chunk, whatever has been asked for already.
  [[nodiscard]] std::optional<WeightsKey> next_key(const WorkerTarget& target, std::optional<WeightsKey> asked) const;
  // Of the newest weights no version is gone.
  static void gone(Version /*version*/, Version /*newest*/) {}

  // That of the newest grant.
  [[nodiscard]] Step step() const { return granted_step_; }
  // A chunk's version once so many steps are updated.
  [[nodiscard]] Version updates(Step step) const { return step * slots_; }
  [[nodiscard]] static ReceiptScope scope(const WorkerTarget& target) {
    return {target.step, target.ranges.front().begin};
  }
  // What a contribution says of the chunk's version that it was computed from.
  [[nodiscard]] static Version computed_from(Version version) { return version; }
  // A newer version does not say whose updates it has.
  [[nodiscard]] static std::optional<Step> covered_by(Version /*version*/) { return std::nullopt; }
  // So few grants are left to compute, the one in hand among them, that the lead is asked for more.
  [[nodiscard]] bool is_short() const;
  // The grants of the newest order that have been computed, and are not given up.
  [[nodiscard]] std::vector<Grant> computed_grants() const;
  // Those that are given up, by their clocks.
  [[nodiscard]] std::vector<LeadNumber> dropped_grants() const;
  // Whether contributions say what they rest on.
  [[nodiscard]] bool has_marks() const { return journaled_; }
  // An item is given up only when it has expired: drop().
  static void give_up(Step /*step*/, SlotRange /*slots*/) {}
  // Grants tell what is computed.
  [[nodiscard]] static bool shares_slots() { return false; }
  [[nodiscard]] static SlotSet begun_of(Step /*step*/) { return {}; }
  [[nodiscard]] static SlotSet begun_now() { return {}; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(slots_, journaled_, granted_step_), listed::parts(grants_));
  }

 private:
  struct GrantState {
    Grant grant;
    bool computed = false;
    bool dropped = false;  // after that

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(grant.item), listed::names(grant.clock), listed::plain(computed, dropped));
    }
  };

  [[nodiscard]] SlotsAhead slot_of(const Grant& grant) const;
  [[nodiscard]] const Grant* grant_after(LeadNumber clock) const;

  Slot slots_;
  bool journaled_;
  Step granted_step_ = 0;
  std::vector<GrantState> grants_;  // of the newest order
};

}  // namespace ballast
