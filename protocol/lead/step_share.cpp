#include "protocol/lead/step_share.h"

#include <algorithm>
#include <utility>

namespace ballast {

void StepShare::begin(SlotRange standing, bool has_begun) {
  ranges_.clear();
  if (!standing.empty()) {
    ranges_.push_back(standing);
  }
  is_told_ = is_told_ && !has_begun;
  is_trial_ = false;
  had_trial_ = false;
}

void StepShare::add(SlotRange range, bool instead) {
  if (instead) {
    ranges_.clear();
  }
  ranges_.push_back(range);
  is_told_ = true;
  is_trial_ = false;
}

void StepShare::add_first(SlotRange range) {
  ranges_.insert(ranges_.begin(), range);
  is_told_ = true;
  is_trial_ = false;
}

void StepShare::make_trial() {
  is_trial_ = true;
  had_trial_ = true;
}

bool StepShare::withdraw(SlotRange range) {
  const auto meets = [&](SlotRange each) { return each.begin < range.end && range.begin < each.end; };
  if (std::ranges::none_of(ranges_, meets)) {
    return false;
  }
  std::vector<SlotRange> kept;
  for (const auto each : ranges_) {
    const SlotRange before{each.begin, std::min(each.end, range.begin)};
    const SlotRange after{std::max(each.begin, range.end), each.end};
    for (const auto part : {before, after}) {
      if (!part.empty()) {
        kept.push_back(part);
      }
    }
  }
  ranges_ = std::move(kept);
  is_told_ = true;
  return true;
}

void StepShare::rewind() {
  ranges_.clear();
  is_told_ = false;
}

void StepShare::expect(Micros due, bool is_predicted) {
  due_ = due;
  is_predicted_ = is_predicted;
}

}  // namespace ballast
