// What a session has to do next, from the orders it was given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/protocol/ids.h"
#include "common/protocol/messages.h"
#include "common/protocol/slot_set.h"

namespace ballast {

// Evaluation comes first (the others wait for it), then extra work of an open step, then the standing range of the next
// step. Slots that this session has computed are not computed again.
class WorkerPlan {
 public:
  struct Target {
    enum class Kind : std::uint8_t { none, train, evaluate };
    Kind kind = Kind::none;
    Version version = 0;            // of the weights it needs, or kNewestVersion
    std::uint64_t ticket = 0;       // of the pull of the newest weights: the grant's clock
    Step step = 0;                  // train
    std::vector<SlotRange> ranges;  // train
    Evaluation evaluation;          // evaluate
    bool operator==(const Target&) const = default;
  };

  // `ledgered`: each item is an update of its own.
  explicit WorkerPlan(Slot slots, bool ledgered = false) : slots_(slots), ledgered_(ledgered) {}

  // False if the order is no newer than the last one.
  bool take(const Assign& assign);
  Target next();
  // The ranges of the standing order for a step, as far as known; empty if it has none or they are done.
  [[nodiscard]] std::vector<SlotRange> standing_work(Step step) const;

  // The grant after that of `clock`, if there is one.
  [[nodiscard]] std::optional<Grant> grant_after(std::uint64_t clock) const;
  // The grants of the newest order that have been computed.
  [[nodiscard]] std::vector<Grant> computed_grants() const;
  // Grants of the newest order that are still to be computed.
  [[nodiscard]] std::size_t open_grants() const;

  void computed(Step step, const std::vector<SlotRange>& ranges);
  void computed(std::uint64_t clock);
  // Has no effect if the order has changed meanwhile: what it asks for now is still to be done.
  void evaluated(const EvaluationResult& result);
  // What was evaluated does not count.
  void evaluate_again() { evaluated_ = false; }
  // A chunk of this version is gone and already at `held`: every chunk is at held - 1 at least, so that is the oldest
  // step that can still be open.
  void gone(Version version, Version held);

  [[nodiscard]] std::uint64_t order() const { return order_; }
  [[nodiscard]] Timeline timeline() const { return timeline_; }
  [[nodiscard]] Step cursor() const { return cursor_; }
  // What it tells of itself: the step that it means to compute next; where items are granted, that of the newest grant.
  [[nodiscard]] Step step() const { return ledgered_ ? granted_step_ : cursor_; }

 private:
  [[nodiscard]] const Standing* standing_at(Step step) const;
  [[nodiscard]] std::vector<SlotRange> without_done(Step step, SlotRange range) const;
  void move_cursor();

  struct GrantState {
    Grant grant;
    bool computed = false;
  };

  Slot slots_;
  bool ledgered_;
  std::uint64_t order_ = 0;
  Timeline timeline_ = 0;
  std::vector<Standing> standing_;  // disjoint in steps, ascending
  std::optional<Extra> extra_;
  std::optional<Evaluation> evaluation_;
  bool evaluated_ = false;  // evaluation_ is done
  Step cursor_ = 0;
  Step granted_step_ = 0;
  std::map<Step, SlotSet> done_;
  std::vector<GrantState> grants_;  // of the newest order
};

}  // namespace ballast
