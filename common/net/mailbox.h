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
    signal_if_due();
  }

  // Everything put so far, in order; may be empty. Makes no system call when there is nothing.
  std::vector<T> take() {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(is_signalled_, false)) {
      wakeup_.clear();
    }
    return std::exchange(items_, {});
  }

  // By the owner. While it is quiet, what is put wakes nobody, and waits for whatever the owner wakes for next.
  void be_quiet(bool quiet) {
    if (quiet == is_quiet_) {  // nobody else writes it
      return;
    }
    const std::scoped_lock lock(mutex_);
    is_quiet_ = quiet;
    signal_if_due();
  }

  [[nodiscard]] int fd() const { return wakeup_.fd(); }

 private:
  // Under the mutex the wakeup is signalled while there are items, but for those that were put while it was quiet.
  void signal_if_due() {
    if (!items_.empty() && !is_quiet_ && !std::exchange(is_signalled_, true)) {
      wakeup_.signal();
    }
  }

  std::mutex mutex_;
  std::vector<T> items_;
  bool is_quiet_ = false;
  bool is_signalled_ = false;
  Wakeup wakeup_;
};

}  // namespace ballast
