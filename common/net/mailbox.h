// Things handed from any thread to the one that loops.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "common/net/wakeup.h"

namespace ballast {

// put() from any thread; take() by the owner, whose poll waits on fd().
template <typename T>
class Mailbox {
 public:
  void put(T item) {
    bool was_empty = false;
    {
      const std::scoped_lock lock(mutex_);
      was_empty = items_.empty();
      items_.push_back(std::move(item));
    }
    if (was_empty) {
      wakeup_.signal();
    }
  }

  // Everything put so far, in order; may be empty.
  std::vector<T> take() {
    wakeup_.clear();
    const std::scoped_lock lock(mutex_);
    return std::exchange(items_, {});
  }

  [[nodiscard]] int fd() const { return wakeup_.fd(); }

 private:
  std::mutex mutex_;
  std::vector<T> items_;
  Wakeup wakeup_;
};

}  // namespace ballast
