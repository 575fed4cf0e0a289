#include "common/machine/runnable_time.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/machine/processor_time.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// The processor that it is on, and no other.
void stay(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

TEST_CASE("runnable time does not go on while a thread waits for something else than a processor") {
  const RunnableTime runnable;
  const auto begun = Clock::now();
  const auto before = runnable.now();
  std::this_thread::sleep_for(milliseconds(200));
  const auto was_runnable = runnable.now() - before;
  CHECK((Clock::now() - begun) - was_runnable >= milliseconds(195));
}

TEST_CASE("runnable time goes on while another thread has the processor") {
  if (::access("/proc/thread-self/schedstat", R_OK) != 0) {
    MESSAGE("this kernel does not tell what threads wait for processors");
    return;
  }
  const int processor = ::sched_getcpu();
  std::atomic<bool> ends = false;
  std::thread other([&] {
    stay(processor);
    while (!ends) {
    }
  });
  std::chrono::nanoseconds ran{};
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds had{};
  std::thread measured([&] {
    stay(processor);
    const RunnableTime runnable;
    const auto begun = Clock::now();
    const auto runnable_then = runnable.now();
    const auto had_then = processor_time();
    while (Clock::now() < begun + milliseconds(300)) {
    }
    wall = Clock::now() - begun;
    ran = runnable.now() - runnable_then;
    had = processor_time() - had_then;
  });
  measured.join();
  ends = true;
  other.join();
  CHECK(had < 0.8 * wall);
  CHECK(ran > 0.9 * wall);
}

}  // namespace
}  // namespace ballast
