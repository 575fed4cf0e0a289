// The job's status for whoever asks, put together seldom however many ask.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "common/net/unsent_replies.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"

namespace ballast {

// A status costs as much as there are sessions, and anybody may ask for it. So those who ask are told one that may be
// kAge old, as bytes that all of them share. One thread.
class StatusAnswers {
 public:
  static constexpr Micros kAge = 50'000;

  // The status in this version of the protocol. `make` is asked if the last one it gave is older than kAge, or if there
  // is none.
  SharedBytes answer(std::uint32_t version, Micros now, const std::function<Status()>& make);

 private:
  static constexpr std::size_t kVersions = kProtocolVersion - kOldestProtocolVersion + 1;

  Encoder encoder_;
  Message status_;
  Micros made_at_ = 0;
  std::array<SharedBytes, kVersions> bytes_;  // of status_, by version
};

}  // namespace ballast
