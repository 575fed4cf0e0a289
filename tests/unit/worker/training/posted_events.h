// What a compute thread posts, for tests that wait for it.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/worker/worker.h"

namespace ballast::testing {

// Waits for what a compute thread posts, but not for ever.
class PostedEvents {
 public:
  void post(worker::Event event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    arrived_.notify_all();
  }
  // All events up to the first of this kind, which is the last of them.
  template <typename Last>
  std::vector<worker::Event> up_to() {
    std::unique_lock lock(mutex_);
    const bool there = arrived_.wait_for(lock, std::chrono::seconds(60), [&] {
      return !events_.empty() && std::holds_alternative<Last>(events_.back());
    });
    REQUIRE(there);
    return std::exchange(events_, {});
  }

  // All until now.
  std::vector<worker::Event> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<worker::Event> events_;
};

}  // namespace ballast::testing
