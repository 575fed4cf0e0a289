// For how long a database holds up writes, and how often its own work fails.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace ballast {

enum class WriteStall : std::uint8_t { none, slowed, stopped };

// Over all openings of a database. Thread-safe.
class WriteStalls {
 public:
  using Clock = std::chrono::steady_clock;

  // From now on writes are held up like this.
  void turn(WriteStall kind, Clock::time_point now = Clock::now()) {
    const std::scoped_lock lock(mutex_);
    settle(now);
    kind_ = kind;
  }
  void failed() {
    const std::scoped_lock lock(mutex_);
    ++failures_;
  }

  // So far, what goes on now included.
  [[nodiscard]] double seconds(WriteStall kind, Clock::time_point now = Clock::now()) {
    const std::scoped_lock lock(mutex_);
    settle(now);
    return spent_[static_cast<std::size_t>(kind)].count();
  }
  [[nodiscard]] std::uint64_t failures() const {
    const std::scoped_lock lock(mutex_);
    return failures_;
  }

 private:
  void settle(Clock::time_point now) {
    spent_[static_cast<std::size_t>(kind_)] += now - since_;
    since_ = now;
  }

  mutable std::mutex mutex_;
  WriteStall kind_ = WriteStall::none;
  Clock::time_point since_ = Clock::now();
  std::array<std::chrono::duration<double>, 3> spent_{};
  std::uint64_t failures_ = 0;
};

}  // namespace ballast
