// SIGTERM and SIGINT as a call on a thread that waits for them.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace ballast {

// First of all in main(): every later thread inherits the mask.
void block_stop_signals();

// At the first SIGTERM or SIGINT during its life calls `on_stop` from its own thread; at the second one the process
// ends without cleaning up, as after a kill: whatever the first one waits for may never come. Once it is destroyed,
// each of these signals does so. By SIGUSR1 it ends its own thread; one from elsewhere is passed over.
class StopSignals {
 public:
  explicit StopSignals(std::function<void(const std::string& reason)> on_stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // If a process ends for this reason, which `on_stop` was called with: the exit code, 128 plus the signal's number.
  // Any thread.
  [[nodiscard]] std::optional<int> exit_code(const std::string& reason) const;
  // Of the signal that was caught; nothing if there was none. Any thread.
  [[nodiscard]] std::optional<int> exit_code() const;

 private:
  [[nodiscard]] int next() const;

  std::atomic<int> caught_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace ballast
