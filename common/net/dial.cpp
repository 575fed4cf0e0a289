#include "common/net/dial.h"

#include <algorithm>

namespace ballast {

bool Dial::takes_lookup(Micros now) {
  const bool in_doubt = connected_ ? now >= heard_at_ + kSilent : true;
  if (asked_ || !in_doubt || now < ask_at_) {
    return false;
  }
  asked_ = true;
  ask_at_ = now + (connected_ ? kSilent : ask_every_);
  ask_every_ = std::min(2 * ask_every_, kAskAtLast);
  return true;
}

bool Dial::resolved(const std::vector<std::string>& addresses, Micros now) {
  asked_ = false;
  if (addresses.empty()) {
    return false;
  }
  addresses_ = addresses;
  const auto found = std::find(addresses_.begin(), addresses_.end(), address_);
  const bool is_meant = found != addresses_.end();
  const bool is_alone = addresses_.size() == 1;
  if (is_meant && (connected_ || is_alone || !exhausted_)) {
    next_ = static_cast<std::size_t>(found - addresses_.begin()) + 1;
    return false;
  }
  return use(0, now);
}

bool Dial::use(std::size_t index, Micros now) {
  address_ = addresses_[index];
  next_ = index + 1;
  exhausted_ = false;
  connected_ = false;
  tried_at_ = now;
  return true;
}

bool Dial::try_next(Micros now) {
  if (next_ < addresses_.size()) {
    return use(next_, now);
  }
  exhausted_ = true;
  tried_at_ = now;
  return false;
}

bool Dial::failed(Micros now) { return !connected_ && !address_.empty() && !exhausted_ && try_next(now); }

bool Dial::tick(Micros now) {
  return !connected_ && !address_.empty() && !exhausted_ && now >= tried_at_ + kTryFor && try_next(now);
}

void Dial::connected(Micros now) {
  connected_ = true;
  exhausted_ = false;
  ask_every_ = kAskEvery;
  heard_at_ = now;
}

void Dial::lost(Micros now) {
  connected_ = false;
  tried_at_ = now;
  ask_at_ = now;
}

}  // namespace ballast
