#include "worker/models/timed_work.h"

#include <algorithm>
#include <thread>

namespace ballast {

void TimedWork::wait(double share) {
  constexpr std::chrono::milliseconds kSlice{5};
  constexpr std::chrono::milliseconds kStopped{20};
  const auto done = begin_ + std::chrono::duration_cast<Clock::duration>(takes_ * share);
  for (auto now = Clock::now(); now < done + stopped_;) {
    const auto wakes = std::min(done + stopped_, now + kSlice);
    std::this_thread::sleep_until(wakes);
    now = Clock::now();
    if (now - wakes > kStopped) {
      stopped_ += now - wakes;
    }
  }
}

}  // namespace ballast
