// Signals as something a poll can wait for.
#pragma once

#include <optional>

namespace ballast {

// Blocks SIGINT, SIGTERM, SIGHUP, SIGPIPE and SIGCHLD for the process: make one before any other thread exists.
class Signals {
 public:
  Signals();  // throws std::system_error when no descriptor is left
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  // The next signal that arrived; never waits. Several of one kind may count as one.
  [[nodiscard]] std::optional<int> next() const;

 private:
  int fd_;
};

}  // namespace ballast
