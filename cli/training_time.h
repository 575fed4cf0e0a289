// How long a run trained and on how many examples, though its lead may have been started again, and how much of that
// time it stood still for a trouble that was told (a full disk, a shard that is gone). Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/protocol/messages.h"

namespace ballast {

// Fed with every status of a run. A lead counts its own time only, and its examples are those of the whole job: of
// earlier runs of it as well.
class TrainingTime {
 public:
  // `resumed`: the job began in an earlier run.
  explicit TrainingTime(bool resumed) {
    if (!resumed) {
      first_ = 0;
    }
  }

  void observe(const Status& status) {
    if (status.training < last_) {
      before_ += last_;  // by a lead before this one
    } else if (status.examples <= newest_ && !(status.trouble.empty() && status.waits_for.empty())) {
      stood_still_ += status.training - last_;
    }
    last_ = status.training;
    if (status.training > 0) {
      first_ = first_.value_or(status.examples);
      newest_ = status.examples;
    }
  }

  [[nodiscard]] double seconds() const { return static_cast<double>(before_ + last_) / 1e6; }
  // Of these seconds.
  [[nodiscard]] double stood_still() const { return static_cast<double>(stood_still_) / 1e6; }
  // Of this run; what was trained again counts once.
  [[nodiscard]] std::uint64_t examples() const {
    const auto first = first_.value_or(0);
    return newest_ > first ? newest_ - first : 0;
  }
  // While it did not stand still; 0 where nothing was trained.
  [[nodiscard]] double examples_per_second() const {
    const auto trained = seconds() - stood_still();
    return trained > 0 ? static_cast<double>(examples()) / trained : 0;
  }

 private:
  Micros before_ = 0;
  Micros last_ = 0;
  Micros stood_still_ = 0;
  std::optional<std::uint64_t> first_;
  std::uint64_t newest_ = 0;
};

}  // namespace ballast
