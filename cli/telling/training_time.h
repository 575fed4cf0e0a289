// How long a run trained and on how many examples, though its lead may have been started again, and how much of that
// time it stood still for a trouble that was told (a full disk, a shard that is gone). Pure.
//
// What passes between two additions of examples is a standstill if a trouble was told in it and it is more than ten
// times as long as any before: as far as it is longer than those. A trouble beside which training goes on, also for all
// of a run (other arithmetic, no complete copy), is none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "protocol/messages.h"

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
    }
    last_ = status.training;
    since_ = since_.value_or(now());
    is_troubled_ = is_troubled_ || !(status.trouble.empty() && status.waits_for.empty());
    if (status.training > 0) {
      if (status.examples > newest_) {
        end_span();
      }
      first_ = first_.value_or(status.examples);
      newest_ = status.examples;
    }
  }

  [[nodiscard]] double seconds() const { return static_cast<double>(now()) / 1e6; }
  // Of these seconds.
  [[nodiscard]] double stood_still() const { return static_cast<double>(stood_still_ + excess(span())) / 1e6; }
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
  static constexpr std::uint64_t kMuchLonger = 10;

  [[nodiscard]] Micros now() const { return before_ + last_; }
  // Since examples were added, or since the first status.
  [[nodiscard]] Micros span() const { return now() - since_.value_or(now()); }
  // What of the span is a standstill. Before anything was added there is nothing to compare it with.
  [[nodiscard]] Micros excess(Micros span) const {
    return is_troubled_ && longest_ > 0 && span > kMuchLonger * longest_ ? span - longest_ : 0;
  }

  void end_span() {
    if (const auto still = excess(span()); still > 0) {
      stood_still_ += still;
    } else if (is_troubled_ && longest_ == 0 && first_span_ == 0) {
      first_span_ = span();  // judged by the next one
    } else {
      longest_ = std::max(longest_, span());
    }
    if (longest_ > 0 && first_span_ > 0) {
      judge_first_span();
    }
    since_ = now();
    is_troubled_ = false;
  }

  void judge_first_span() {
    const auto first = std::exchange(first_span_, 0);
    if (first > kMuchLonger * longest_) {
      stood_still_ += first - longest_;
    } else {
      longest_ = std::max(longest_, first);
    }
  }

  Micros before_ = 0;
  Micros last_ = 0;
  Micros stood_still_ = 0;       // in spans that have ended
  std::optional<Micros> since_;  // of the span that has not
  bool is_troubled_ = false;     // it
  Micros longest_ = 0;           // span in which it did not stand still
  Micros first_span_ = 0;        // if it had a trouble and has not been judged
  std::optional<std::uint64_t> first_;
  std::uint64_t newest_ = 0;
};

}  // namespace ballast
