// When a worker that died is started again. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace ballast {

// Of one worker. A long life forgives earlier deaths: what is looked for is a worker that cannot live, not a job that
// has been running for a month.
class RestartPolicy {
 public:
  using Span = std::chrono::milliseconds;
  static constexpr Span kShortLife{10'000};
  static constexpr int kShortLives = 5;  // in a row: no further one
  static constexpr Span kFirstDelay{200};

  // How long to wait before the next life; nothing: give up.
  std::optional<Span> died_after(Span life) {
    in_a_row_ = life < kShortLife ? in_a_row_ + 1 : 1;
    if (in_a_row_ >= kShortLives) {
      return std::nullopt;
    }
    return kFirstDelay * (1 << (in_a_row_ - 1));
  }

 private:
  int in_a_row_ = 0;
};

}  // namespace ballast
