// A job without what is suspected to hold it back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "insight/job_times.h"
#include "insight/medians.h"
#include "insight/suspects.h"

namespace ballast::insight {

// Mends what is suspected, by what others take that are not.
class Mending {
 public:
  // Both outlive this.
  Mending(const JobTimes& as_is, const std::vector<Suspect>& suspects) : as_is_(as_is), suspects_(suspects) {}

  [[nodiscard]] JobTimes mended(const std::vector<Suspect>& which) const;

 private:
  [[nodiscard]] bool is_suspected(Cause cause, std::size_t place) const;

  // The median of others that are not suspected of it, or of all others.
  template <typename All, typename Value>
  [[nodiscard]] double peers(Cause cause, std::size_t self, const All& all, Value&& value) const {
    std::vector<double> sound;
    std::vector<double> others;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != self) {
        others.push_back(value(all[i]));
        if (!is_suspected(cause, i)) {
          sound.push_back(others.back());
        }
      }
    }
    return median(sound.empty() ? others : sound);
  }

  void relieve(JobTimes& times, double stood) const;
  [[nodiscard]] double seen_by_others(std::size_t shard, double ServerLink::*rate) const;
  void speed_up(JobTimes& times, std::size_t place) const;
  void mend_link(JobTimes& times, std::size_t place) const;
  void mend_shard_link(JobTimes& times, std::size_t place) const;
  void mend_journal(JobTimes& times, std::size_t place) const;
  void mend(JobTimes& times, const Suspect& one) const;

  const JobTimes& as_is_;
  const std::vector<Suspect>& suspects_;
};

}  // namespace ballast::insight
