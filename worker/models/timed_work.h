// Work that takes a set time and no processor.
#pragma once

#include <chrono>

namespace ballast {

// One thread. Its parts are done at times that count from its beginning, so that late awakenings do not add up. Time in
// which the process was stopped (SIGSTOP, a machine that sleeps) is none of it, as with work that a processor does:
// what wakes more than 20 ms late counts as stopped.
class TimedWork {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins now.
  explicit TimedWork(std::chrono::duration<double, std::milli> takes) : takes_(takes) {}

  [[nodiscard]] Clock::time_point begin() const { return begin_; }
  // Waits until `share` of it, 0 to 1, is done.
  void wait(double share);

 private:
  std::chrono::duration<double, std::milli> takes_;
  Clock::time_point begin_ = Clock::now();
  Clock::duration stopped_{};
};

}  // namespace ballast
