#include "protocol/lead/pauses.h"

#include <algorithm>

namespace ballast {

void Pauses::want_stop(Micros now) {
  if (!wants_stop_) {
    wanted_since_ = now;
  }
  wants_stop_ = true;
}

void Pauses::withdraw_stop() {
  wants_stop_ = false;
  waits_for_copy_ = false;
}

void Pauses::release() {
  hold_.reset();
  hold_again_at_.reset();
  margin_ = kMargin;
}

bool Pauses::hold_after(Step untouched, Step steps) {
  margin_ = std::max(margin_, kMargin);
  hold_ = untouched + margin_;
  margin_ *= 2;
  if (*hold_ >= steps) {
    hold_.reset();
  }
  return hold_.has_value();
}

void Pauses::hold_later(Micros now) {
  hold_.reset();
  margin_ = kMargin;
  hold_again_at_ = now + patience_.room;
}

bool Pauses::has_waited(Micros now) {
  if (!hold_again_at_ || now < *hold_again_at_) {
    return false;
  }
  hold_again_at_.reset();
  return true;
}

void Pauses::rewind() {
  hold_.reset();
  hold_again_at_.reset();
  untouched_ = true;
  waits_for_copy_ = false;
}

}  // namespace ballast
