// How another process's clock stands to our own, by what frames say of when they were sent.
#pragma once

#include <optional>

#include "common/wire/frame_clock.h"
#include "protocol/messages/trace.h"

namespace ballast {

// Each frame that answers one of ours gives a reading, as in NTP (RFC 5905, section 8): the other clock's time halfway
// between what it had heard and what it sent is ours halfway between what we sent and what we heard, wrong by half the
// round trip at most. The reading with the smallest error is kept; an error grows with age, for clocks drift apart. A
// reading that contradicts what is kept takes its place: the other process is another one, on another machine. The
// round trip that is told is the quickest of the last kLately to twice that, whichever reading is kept: a way that has
// become longer shows. One thread.
class ClockOffset {
 public:
  // Two clocks drift apart by that much at most: a microsecond in so many, 100 of a million.
  static constexpr Micros kDrift = 10'000;

  static constexpr Micros kLately = 2'000'000;

  // A frame of the lead's was heard. One that says nothing of ours gives no reading.
  void heard(const FrameClock& clock, Micros now);
  // Both clocks now; nothing before the first reading.
  [[nodiscard]] std::optional<ClockReading> reading(Micros now) const;

 private:
  // The quickest round trip since a moment.
  struct Quickest {
    Micros since = 0;
    Micros round_trip = 0;
  };
  void note(Micros round_trip, Micros now);

  std::optional<ClockReading> best_;
  std::optional<Quickest> quickest_;
  std::optional<Micros> quickest_before_;  // in the span right before it
};

}  // namespace ballast
