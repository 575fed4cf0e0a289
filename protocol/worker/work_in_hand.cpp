#include "protocol/worker/work_in_hand.h"

#include <algorithm>
#include <utility>

namespace ballast {

bool WorkInHand::Receipts::take(Step step, Slot slot, std::uint64_t count) {
  if (without_receipt == 0 || !scope.contains(step, slot)) {
    return false;
  }
  without_receipt -= std::min(without_receipt, count);
  return true;
}

void WorkInHand::begin(Timeline timeline, const WorkerTarget& target, ReceiptScope scope, Marks marks, Micros at) {
  is_running_ = true;
  is_dropped_ = false;
  timeline_ = timeline;
  target_ = target;
  marks_ = std::move(marks);
  newest_ = {scope, 0};
  clock_.begins(at);
}

void WorkInHand::begin_evaluation(Timeline timeline, const WorkerTarget& target) {
  is_running_ = true;
  timeline_ = timeline;
  target_ = target;
}

void WorkInHand::computed(const PhaseTimes& phases, Micros at) {
  is_running_ = false;
  last_ = newest_;
  clock_.computed(at, phases, last_.without_receipt > 0);
}

bool WorkInHand::drop(Step step, Slot slot) {
  const bool is_in_hand =
      is_running_ && target_.kind == WorkerTarget::Kind::train && newest_.scope.contains(step, slot);
  is_dropped_ = is_dropped_ || is_in_hand;
  return is_in_hand;
}

void WorkInHand::receipts(Step step, Slot slot, std::uint64_t count, Micros at) {
  if (is_running_ && newest_.take(step, slot, count)) {
    return;
  }
  if (last_.take(step, slot, count)) {
    clock_.receipt(at, last_.without_receipt > 0);
  }
}

void WorkInHand::forget_receipts() {
  newest_.without_receipt = 0;
  last_.without_receipt = 0;
}

void WorkInHand::discard_evaluation() {
  if (is_running_ && target_.kind == WorkerTarget::Kind::evaluate) {
    timeline_ = 0;
  }
}

}  // namespace ballast
