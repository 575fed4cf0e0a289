// Keeps a process with listening sockets from running out of file descriptors.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/net/gate.h"

namespace ballast {

// Holds descriptors in reserve. When the process has no other one left, all gates are shut and the reserve is let go,
// so that those who are in, and whoever writes to a disk, can go on; when enough are free again, the reserve is taken
// back and the gates are opened. Looks 20 times a second, on a thread of its own. Thread-safe.
class Doorkeeper {
 public:
  // A callback on the keeper's thread: whether the gates were shut, or opened again.
  using Told = std::function<void(bool shut)>;

  explicit Doorkeeper(std::size_t reserve, Told told);
  // Opens the gates.
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  // For as long as its socket has it.
  void guard(const std::shared_ptr<Gate>& gate);
  [[nodiscard]] bool is_shut() const { return shut_; }

 private:
  void work(const std::stop_token& stop);
  void shut();
  void tend();
  void open_if_room();
  void turn_away();
  bool take_reserve();
  void release_reserve();
  [[nodiscard]] std::vector<std::shared_ptr<Gate>> gates() const;

  const std::size_t reserve_;
  const Told told_;
  mutable std::mutex mutex_;
  std::condition_variable_any ending_;
  std::vector<std::weak_ptr<Gate>> gates_;
  std::vector<int> held_;  // the keeper's thread's
  std::atomic<bool> shut_ = false;
  std::chrono::steady_clock::time_point look_at_;  // whether the gates can be opened
  std::jthread thread_;                            // last: it uses what is above
};

}  // namespace ballast
