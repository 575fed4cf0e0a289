// What a thread has computed, and waited for a processor to compute on.
#pragma once

#include <chrono>

namespace ballast {

// Of the thread that makes it, which alone may ask. What of a span of the wall's time is not runnable the thread has
// waited for something else than a processor: a disk, a message, a lock.
class RunnableTime {
 public:
  RunnableTime();
  ~RunnableTime();
  RunnableTime(const RunnableTime&) = delete;
  RunnableTime& operator=(const RunnableTime&) = delete;

  // Since the thread began. Where the kernel does not tell what it has waited for a processor (schedstat), only what it
  // has had of one.
  [[nodiscard]] std::chrono::nanoseconds now() const;

 private:
  int descriptor_;
};

}  // namespace ballast
