#include "protocol/lead/suspicion.h"

#include <algorithm>

namespace ballast {

void Suspicion::hear_nothing(bool is_silent) {
  is_silent_ = is_silent;
  was_late_ = was_late_ || (is_late_ && !is_silent_);
}

void Suspicion::send_nothing(bool is_unpaying) {
  is_unpaying_ = is_unpaying;
  credit_ = is_unpaying ? 0 : credit_;
}

void Suspicion::find_late() {
  is_late_ = true;
  was_late_ = was_late_ || !is_silent_;
}

void Suspicion::excuse() {
  is_late_ = false;
  is_relieved_ = false;
}

void Suspicion::bring(Step end) {
  brought_until_ = std::max(brought_until_, end);
  credit_ = std::min(credit_ + 1, kMostCredit);
  misses_ = 0;
}

void Suspicion::close_step(Step step) {
  if (was_late_ && step >= brought_until_) {
    credit_ -= std::min<std::uint32_t>(credit_, 1);
    ++misses_;
  }
  was_late_ = was_late_ && is_late_;
}

void Suspicion::open_step(bool has_share) {
  is_relieved_ = false;
  is_late_ = is_late_ && has_share;
}

void Suspicion::rewind() {
  is_late_ = false;
  was_late_ = false;
  brought_until_ = 0;
  is_relieved_ = false;
}

std::string Suspicion::why(const SlotProgress& progress, Step open) const {
  const bool has_lost_credit = !has_credit() && misses_ > 0;
  if (is_lost_ || !(is_suspect() || has_lost_credit)) {
    return {};
  }
  if (is_silent_) {
    return "it is silent";
  }
  if (is_unpaying_) {
    return "it sends nothing of what lanes call: that was taken back twice";
  }
  if (is_late_ && progress.in_hand != kNoSlot) {
    return "slot " + std::to_string(progress.in_hand) + " of step " + std::to_string(progress.step) + " takes " +
           std::to_string(progress.in_hand_for / 1000) + " ms, one of its slots " +
           std::to_string(progress.slot_time / 1000) + " ms";
  }
  return is_late_ ? "it brings nothing of its share of step " + std::to_string(open)
                  : "it brought nothing of its share of " + std::to_string(misses_) + " steps in a row";
}

}  // namespace ballast
