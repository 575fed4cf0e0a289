// SIGTERM and SIGINT as a call on a thread that waits for them.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace ballast {

// First of all in main(): every later thread inherits the mask.
void block_stop_signals();

// Calls `on_stop` once, from its own thread, at the first SIGTERM or SIGINT during its life.
class StopSignals {
 public:
  explicit StopSignals(std::function<void(const std::string& reason)> on_stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  std::thread thread_;
};

}  // namespace ballast
