// For how long a job recovers.
#pragma once

#include <algorithm>
#include <optional>

#include "protocol/ids.h"
#include "protocol/messages.h"

namespace ballast {

// A job recovers from when a shard that was given up was last heard of, or its lead is in phase `recovering`, until all
// shards serve again in another phase. One thread; told a few times a second.
class RecoveryClock {
 public:
  struct Sight {
    JobPhase phase = JobPhase::assembling;
    Micros silent = 0;       // for how long a lane has been silent, of those that are for too long; 0: none is
    bool all_serve = false;  // the shards' lanes, in the newest timeline
  };

  // How long the recovery took that is over now, if one is.
  std::optional<Micros> look(const Sight& sight, Micros now) {
    const bool is_hurt = is_under_way(sight.phase) && (sight.phase == JobPhase::recovering || sight.silent > 0);
    if (is_hurt && !since_) {
      since_ = now - std::min(now, sight.silent);
    } else if (since_ && !is_under_way(sight.phase)) {
      since_.reset();  // it will not go on
    } else if (since_ && !is_hurt && sight.all_serve) {
      const auto took = now - *since_;
      since_.reset();
      return took;
    }
    return std::nullopt;
  }
  // 0: it does not recover.
  [[nodiscard]] Micros lasts(Micros now) const { return since_ ? now - *since_ : 0; }

 private:
  static bool is_under_way(JobPhase phase) { return phase != JobPhase::assembling && phase < JobPhase::finished; }

  std::optional<Micros> since_;
};

}  // namespace ballast
