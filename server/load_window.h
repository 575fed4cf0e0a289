// How much of a base or a journal that is being read may wait for the lane that puts it in place.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ballast {

// Thread-safe: the storage thread takes and waits, the lane gives back.
class LoadWindow {
 public:
  explicit LoadWindow(std::uint64_t bytes)
      : bytes_(static_cast<std::int64_t>(bytes)), free_(static_cast<std::int64_t>(bytes)) {}

  // Waits for room; what is larger than the whole window goes alone, whatever size that has. False after close().
  bool take(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || free_ > 0 || free_ == bytes_; });
    free_ -= closed_ ? 0 : static_cast<std::int64_t>(bytes);
    return !closed_;
  }
  void give_back(std::uint64_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      free_ += static_cast<std::int64_t>(bytes);
    }
    changed_.notify_one();
  }
  // Not given back.
  [[nodiscard]] std::uint64_t taken() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::uint64_t>(bytes_ - free_);
  }
  // The lane takes nothing any more.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
  }

 private:
  const std::int64_t bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t free_;
  bool closed_ = false;
};

}  // namespace ballast
