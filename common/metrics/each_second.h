// Reads once a second what metrics are to tell and nobody counts.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ballast {

// A thread of its own: what is read may take its time to answer, and no loop waits for it. Shutdown: the destructor
// wakes the thread and joins it.
class EachSecond {
 public:
  // `read` is called from the thread, at once and then each second.
  explicit EachSecond(std::function<void()> read);
  ~EachSecond();
  EachSecond(const EachSecond&) = delete;
  EachSecond& operator=(const EachSecond&) = delete;

 private:
  void run();

  std::function<void()> read_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ballast
