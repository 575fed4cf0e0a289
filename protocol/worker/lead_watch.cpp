#include "protocol/worker/lead_watch.h"

#include <utility>

namespace ballast {

std::optional<Micros> LeadWatch::tick(Micros now) {
  const bool was_asleep = now - std::exchange(ticked_at_, now) > times_.silence / 2;
  if (std::exchange(was_heard_, false) || was_asleep) {
    heard_at_ = now;
  }
  const auto silent = now - heard_at_;
  return is_known_ && silent > times_.silence ? std::optional(silent) : std::nullopt;
}

bool LeadWatch::greets(bool answered, Micros now) {
  if (has_greeted_ && (answered || now - greeted_at_ < times_.hello_every)) {
    return false;
  }
  has_greeted_ = true;
  greeted_at_ = now;
  return true;
}

void LeadWatch::greet_again() {
  has_greeted_ = false;
  greeted_at_ = 0;
}

bool LeadWatch::becomes_idle() { return !std::exchange(is_idle_, true); }

}  // namespace ballast
