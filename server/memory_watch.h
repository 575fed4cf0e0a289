// A thread that looks whether the process's memory is what its loops say they have.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/net/gate.h"
#include "server/memory_account.h"

namespace ballast {

// What one loop says. Any thread.
class LoopMemory {
 public:
  // By the loop, at every tick: bytes that it has, and bytes of whole messages that may wait at its socket.
  void tell(std::uint64_t held, std::uint64_t waiting) {
    held_ = held;
    waiting_ = waiting;
  }
  // Once after each time that the loop is to make its socket anew.
  bool takes_order() { return ordered_.exchange(false); }

 private:
  friend class MemoryWatch;

  std::atomic<std::uint64_t> held_ = 0;
  std::atomic<std::uint64_t> waiting_ = 0;
  std::atomic<bool> ordered_ = false;
};

// What a loop with a ROUTER is given for it; nothing: nobody watches.
struct SocketKeeping {
  std::shared_ptr<LoopMemory> memory;
  std::function<void(const std::shared_ptr<Gate>&)> guard;  // after its socket was made anew
};

// Looks ten times a second; less often where a look takes long, as it does in a heap of very many free pieces, but once
// a second at least. Thread-safe.
class MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // A loop that takes part from now on.
  std::shared_ptr<LoopMemory> open();
  // The loops are there: what the process has now beside what they say is its own.
  void begin();

 private:
  void work(const std::stop_token& stop);
  void look();

  std::mutex mutex_;
  std::condition_variable_any ending_;
  std::vector<std::shared_ptr<LoopMemory>> loops_;
  MemoryAccount account_;  // the thread's
  std::jthread thread_;
};

}  // namespace ballast
