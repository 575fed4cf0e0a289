#include "common/trace/clock_offset.h"

#include <algorithm>

namespace ballast {
namespace {

ClockReading later(const ClockReading& reading, Micros now) {
  const auto age = now - reading.own;
  return {now, reading.lead + age, reading.error + age / ClockOffset::kDrift, reading.round_trip};
}

bool contradict(const ClockReading& one, const ClockReading& other) {
  const auto apart = one.lead > other.lead ? one.lead - other.lead : other.lead - one.lead;
  return apart > one.error + other.error;
}

}  // namespace

void ClockOffset::heard(const FrameClock& clock, Micros now) {
  if (clock.echo == 0 || now < clock.echo || now - clock.echo < clock.held || clock.sent < clock.held) {
    return;
  }
  const auto round_trip = now - clock.echo - clock.held;
  // The microseconds that halves and the clocks' own steps may be wrong by.
  constexpr Micros kRounding = 2;
  const auto own = clock.echo + (now - clock.echo) / 2;
  const ClockReading read{own, clock.sent - clock.held / 2, round_trip / 2 + kRounding, round_trip};
  if (!best_) {
    best_ = read;
    return note(round_trip, now);
  }
  // Both at the same moment. What is kept stays as it was read: rounded again at every frame it would not age.
  const auto news = later(read, now);
  const auto known = later(*best_, now);
  const bool is_another = contradict(news, known);
  if (is_another) {
    quickest_.reset();  // its way is another as well
  }
  note(round_trip, now);
  if (news.error <= known.error || is_another) {
    best_ = read;
  }
}

void ClockOffset::note(Micros round_trip, Micros now) {
  if (quickest_ && now - quickest_->since < kLately) {
    quickest_->round_trip = std::min(quickest_->round_trip, round_trip);
    return;
  }
  const bool follows = quickest_ && now - quickest_->since < 2 * kLately;
  quickest_before_ = follows ? std::optional(quickest_->round_trip) : std::nullopt;
  quickest_ = {now, round_trip};
}

std::optional<ClockReading> ClockOffset::reading(Micros now) const {
  if (!best_) {
    return std::nullopt;
  }
  auto reading = later(*best_, now);
  reading.round_trip = std::min(quickest_->round_trip, quickest_before_.value_or(quickest_->round_trip));
  return reading;
}

}  // namespace ballast
