// When a frame was sent: by its sender's clock, so that whoever hears both directions can compare the clocks.
#pragma once

#include "protocol/ids.h"

namespace ballast {

// Frames between workers, lanes and the lead have one; of refusals, of what command lines say and of a status, which
// many are told, all is 0, and so it is of a peer of version 13.
struct FrameClock {
  Micros sent = 0;  // by the sender's clock; 0: not told
  Micros echo = 0;  // `sent` of the newest frame of the receiver's that the sender had heard then; 0: none, or not told
  Micros held = 0;  // since it had heard that one
  bool operator==(const FrameClock&) const = default;
};

// What is needed for echoes: the newest frame of one peer. One thread.
class HeardClock {
 public:
  void heard(const FrameClock& clock, Micros now) {
    if (clock.sent != 0) {
      sent_ = clock.sent;
      at_ = now;
    }
  }
  // Of a frame to that peer.
  [[nodiscard]] FrameClock now(Micros now) const {
    return sent_ == 0 ? FrameClock{now} : FrameClock{now, sent_, now - at_};
  }

 private:
  Micros sent_ = 0;
  Micros at_ = 0;
};

}  // namespace ballast
