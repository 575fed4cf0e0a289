// How long whole snapshots take, over all shards.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "protocol/ids.h"

namespace ballast {

// A snapshot is begun when the first lane has come to its step, and over when it is complete: durable in all shards,
// and in the ledger. One thread; told a few times a second, which is how exact it is.
class SnapshotClock {
 public:
  // `begun`: the steps of those that some lane is writing, or has written. `complete`: of the newest complete one. How
  // long that took, if it has become complete since the last look; one that has begun since as well is told to have
  // taken as long as looks are apart, which is the most that it can.
  std::optional<Micros> look(const std::set<Step>& begun, Step complete, Micros now) {
    const auto known = begun_.find(complete);
    const auto since = known != begun_.end() ? std::optional(known->second) : looked_at_;
    const auto took = complete > complete_ && since ? std::optional(now - *since) : std::nullopt;
    complete_ = complete;
    looked_at_ = now;
    std::erase_if(begun_, [&](const auto& one) { return one.first <= complete || !begun.contains(one.first); });
    for (const auto step : begun) {
      if (step > complete) {
        begun_.try_emplace(step, now);
      }
    }
    return took;
  }

 private:
  Step complete_ = 0;
  std::optional<Micros> looked_at_;
  std::map<Step, Micros> begun_;  // of those that are told now, and are not complete
};

}  // namespace ballast
