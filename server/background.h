// One thread for what may wait for a disk, so that no loop has to.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "common/log/log.h"

namespace ballast {

// Jobs run one after the other, in the order in which they were given. run() from any thread. The destructor finishes
// the job at hand and drops the rest.
class Background {
 public:
  explicit Background(std::string log_prefix)
      : thread_([this, prefix = std::move(log_prefix)](const std::stop_token& stop) {
          set_log_prefix(prefix);
          work(stop);
        }) {}

  void run(std::function<void()> job) {
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); }) && !stop.stop_requested()) {
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> jobs_;
  std::jthread thread_;  // last: it uses what is above
};

}  // namespace ballast
