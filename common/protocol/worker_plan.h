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
    Version version = 0;            // of the weights it needs; of a training target also the step
    std::vector<SlotRange> ranges;  // train
    Evaluation evaluation;          // evaluate
    bool operator==(const Target&) const = default;
  };

  explicit WorkerPlan(Slot slots) : slots_(slots) {}

  // False if the order is no newer than the last one.
  bool take(const Assign& assign);
  Target next();
  // The ranges of the standing order for a step, as far as known; empty if it has none or they are done.
  [[nodiscard]] std::vector<SlotRange> standing_work(Step step) const;

  void computed(Step step, const std::vector<SlotRange>& ranges);
  // Has no effect if the order has changed meanwhile: what it asks for now is still to be done.
  void evaluated(const EvaluationResult& result);
  // A chunk of this version is gone and already at `held`: every chunk is at held - 1 at least, so that is the oldest
  // step that can still be open.
  void gone(Version version, Version held);

  [[nodiscard]] std::uint64_t order() const { return order_; }
  [[nodiscard]] Timeline timeline() const { return timeline_; }
  [[nodiscard]] Step cursor() const { return cursor_; }

 private:
  [[nodiscard]] const Standing* standing_at(Step step) const;
  [[nodiscard]] std::vector<SlotRange> without_done(Step step, SlotRange range) const;
  void move_cursor();

  Slot slots_;
  std::uint64_t order_ = 0;
  Timeline timeline_ = 0;
  std::vector<Standing> standing_;  // disjoint in steps, ascending
  std::optional<Extra> extra_;
  std::optional<Evaluation> evaluation_;
  bool evaluated_ = false;  // evaluation_ is done
  Step cursor_ = 0;
  std::map<Step, SlotSet> done_;
};

}  // namespace ballast
