#include "common/machine/runnable_time.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <thread>

#include "common/machine/processor_time.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// The processor that it is on, and no other.
bool stay(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

TEST_CASE("runnable time does not go on while a thread waits for something else than a processor") {
  const RunnableTime runnable;
  const auto begun = Clock::now();
  const auto before = runnable.now();
  std::this_thread::sleep_for(milliseconds(200));
  const auto was_runnable = runnable.now() - before;
  CHECK((Clock::now() - begun) - was_runnable >= milliseconds(195));
}

// Some kernels have the file, and count nothing in it.
bool tells_waits() {
  std::ifstream in("/proc/thread-self/schedstat");
  std::uint64_t had = 0;
  return in >> had && had > 0;
}

TEST_CASE("runnable time goes on while another thread has the processor") {
  const int processor = ::sched_getcpu();
  std::atomic<bool> is_there = false;
  std::atomic<bool> ends = false;
  bool stays = true;
  std::thread other([&] {
    stays = stay(processor);
    is_there = true;
    while (!ends) {
    }
  });
  while (!is_there) {
    std::this_thread::yield();
  }
  std::chrono::nanoseconds ran{};
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds had{};
  std::thread measured([&] {
    stays = stay(processor) && stays;
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
  if (!tells_waits() || !stays) {
    MESSAGE("this kernel does not tell what threads wait for processors, or threads cannot be kept on one");
    return;
  }
  CHECK(had < 0.8 * wall);
  CHECK(ran > 0.9 * wall);
}

}  // namespace
}  // namespace ballast
