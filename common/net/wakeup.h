// An eventfd that a poll can wait on.
#pragma once

namespace ballast {

// signal() from any thread, also from a signal handler; clear() by the thread that polls.
class Wakeup {
 public:
  Wakeup();  // throws std::system_error when the process has no file descriptor left
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void signal() const noexcept;
  void clear() const noexcept;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace ballast
