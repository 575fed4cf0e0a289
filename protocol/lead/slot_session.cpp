#include "protocol/lead/slot_session.h"

#include <utility>

namespace ballast {

namespace {

constexpr double kMicrosPerSecond = 1e6;
// No span is longer, 12 days: whatever a session says, sums of some of them are moments.
constexpr Micros kLongestSpan = Micros{1} << 40U;

Micros before(Micros now, Micros span) { return now - std::min(now, span); }

template <typename T>
std::optional<T> above_zero(T value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

Micros transfer(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  const auto span = static_cast<double>(bytes) * kMicrosPerSecond / static_cast<double>(bytes_per_second);
  return bytes_per_second == 0 ? 0 : static_cast<Micros>(std::min(span, static_cast<double>(kLongestSpan)));
}

}  // namespace

bool SlotSession::heard(const SlotProgress& progress, Step open, std::optional<Micros> opened, Micros now) {
  const bool has_progress = progress.begun > 0;
  const bool has_moved =
      has_progress && (!has_progress_ || progress.step != progress_.step || progress.in_hand != progress_.in_hand ||
                       progress.computed != progress_.computed);
  gave_up_ = gave_up_ && progress.step == progress_.step;
  const bool goes_on = has_progress_ && progress.step == progress_.step;
  progress_ = progress;
  for (auto* span : {&progress_.slot_time, &progress_.in_hand_for, &progress_.begun}) {
    *span = std::min(*span, kLongestSpan);
  }
  heard_at_ = now;
  has_progress_ = has_progress;
  known_.slot = above_zero(progress_.slot_time);
  known_.up = above_zero(static_cast<double>(progress.up) / kMicrosPerSecond);
  in_hand_since_ = before(now, progress_.in_hand_for);
  uplink_free_ = now + transfer(progress.without_receipt, progress.up);
  if (has_moved) {
    auto gone = std::exchange(computed_, SlotSet(slots_));
    for (const auto range : progress.computed) {
      computed_.insert(range);
    }
    gone.erase(computed_);
    gave_up_ = gave_up_ || (goes_on && !gone.empty());
  }
  if (has_progress_ && opened && progress.step == open && lag_of_ <= open) {
    const auto begun = before(now, progress.begun);
    lag_.observe(begun - std::min(begun, *opened));
    lag_of_ = open + 1;
    known_.lag = lag_.median();
  }
  return has_moved;
}

void SlotSession::rewind() {
  has_progress_ = false;
  computed_ = SlotSet(slots_);
  gave_up_ = false;
  lag_of_ = 0;
}

SessionPace SlotSession::pace(const SessionPace& typical) const {
  return {known_.lag.value_or(typical.lag), known_.slot.value_or(typical.slot), known_.up.value_or(typical.up)};
}

Micros SlotSession::pull_time(const StepSize& step, const SessionPace& typical) const {
  return std::max(pace(typical).lag, transfer(step.bytes, progress_.down));
}

}  // namespace ballast
