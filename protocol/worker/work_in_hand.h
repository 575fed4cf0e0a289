// What a session computes, or computed last, and which of its contributions have no receipt yet.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"
#include "protocol/worker/step_clock.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

// One computation at a time. Receipts are counted for the one in hand and the one before. Moments as StepClock has
// them. Pure and copyable.
class WorkInHand {
 public:
  using Marks = std::shared_ptr<const std::vector<JournalMark>>;

  // Weights of another version are waited for from now on.
  void wants(Micros at) { clock_.wants(at); }
  // From weights of the timeline; `marks`: what they rest on, null if nobody asks.
  void begin(Timeline timeline, const WorkerTarget& target, ReceiptScope scope, Marks marks, Micros at);
  void begin_evaluation(Timeline timeline, const WorkerTarget& target);
  [[nodiscard]] bool is_running() const { return is_running_; }
  // A contribution came out of it.
  void contributed() { ++newest_.without_receipt; }
  void computed(const PhaseTimes& phases, Micros at);
  void evaluated() { is_running_ = false; }

  // The work of the step and slot is given up: whether it is in hand.
  bool drop(Step step, Slot slot);
  // What comes out of the work in hand is not to be sent.
  [[nodiscard]] bool is_dropped() const { return is_dropped_; }

  // So many receipts arrived, or are not waited for any more, for contributions of the step and slot.
  void receipts(Step step, Slot slot, std::uint64_t count, Micros at);
  // Nobody gives receipts for what was computed so far.
  void forget_receipts();
  // What is being evaluated does not count: its weights are not the job's any more.
  void discard_evaluation();

  // Of the computation in hand, or the last one.
  [[nodiscard]] Timeline timeline() const { return timeline_; }
  [[nodiscard]] const WorkerTarget& target() const { return target_; }
  [[nodiscard]] const Marks& marks() const { return marks_; }
  [[nodiscard]] const StepClock& clock() const { return clock_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(is_running_, is_dropped_, timeline_), listed::parts(target_),
                       listed::plain(marks_, newest_, last_), listed::parts(clock_));
  }

 private:
  struct Receipts {
    ReceiptScope scope;
    std::uint64_t without_receipt = 0;
    bool operator==(const Receipts&) const = default;
    bool take(Step step, Slot slot, std::uint64_t count);
  };

  bool is_running_ = false;
  bool is_dropped_ = false;
  Timeline timeline_ = 0;
  WorkerTarget target_;
  Marks marks_;
  Receipts newest_;
  Receipts last_;  // what was computed last; the newest one once that has ended
  StepClock clock_;
};

}  // namespace ballast
