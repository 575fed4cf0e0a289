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
    const std::scoped_lock lock(mutex_);
    items_.push_back(std::move(item));
    if (items_.size() == 1) {
      wakeup_.signal();
    }
  }

  // Everything put so far, in order; may be empty. Makes no system call when there is nothing.
  std::vector<T> take() {
    const std::scoped_lock lock(mutex_);
    if (!items_.empty()) {
      wakeup_.clear();
    }
    return std::exchange(items_, {});
  }

  [[nodiscard]] int fd() const { return wakeup_.fd(); }

 private:
  // Under the mutex the wakeup is signalled exactly while there are items.
  std::mutex mutex_;
  std::vector<T> items_;
  Wakeup wakeup_;
};

}  // namespace ballast
