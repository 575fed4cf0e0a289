// A thread that looks whether the process's memory is what its loops say they have.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/net/gate.h"
#include "common/net/intake.h"
#include "server/memory_account.h"
#include "server/server_keys.h"

namespace ballast {

// What one loop says. Any thread.
class LoopMemory {
 public:
  // By the loop, at every tick: bytes that it has, and bytes of whole messages that may wait at its socket: of all
  // sessions, and of one.
  void tell(std::uint64_t held, std::uint64_t waiting, std::uint64_t waiting_of_one) {
    held_ = held;
    waiting_ = waiting;
    waiting_of_one_ = waiting_of_one;
  }
  // Its socket is closed.
  void end() { is_over_ = true; }
  // For its socket.
  [[nodiscard]] const std::shared_ptr<Intake>& intake() const { return intake_; }
  // Once after each time that the loop is to make its socket anew.
  bool takes_order() { return ordered_.exchange(false); }

 private:
  friend class MemoryWatch;

  std::atomic<std::uint64_t> held_ = 0;
  std::atomic<std::uint64_t> waiting_ = 0;
  std::atomic<std::uint64_t> waiting_of_one_ = 0;
  std::atomic<bool> ordered_ = false;
  std::atomic<bool> is_over_ = false;
  const std::shared_ptr<Intake> intake_ = std::make_shared<Intake>();
};

// What a loop with a ROUTER is given for it; nothing: nobody watches.
struct SocketKeeping {
  std::shared_ptr<LoopMemory> memory;
  std::function<void(const std::shared_ptr<Gate>&)> guard;  // after its socket was made anew

  // For its socket, where those who connect have keys; null: nobody is told.
  [[nodiscard]] std::shared_ptr<Intake> intake(const ServerKeys& keys) const {
    return memory && keys.authenticator() != nullptr ? memory->intake() : nullptr;
  }
};

// Looks ten times a second; less often where a look takes long, as it does in a heap of very many free pieces, but once
// a second at least. Thread-safe.
class MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch() { end(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // Bytes that are the server's own whatever they come to, asked at each look: of its database. Before begin(); may be
  // asked until end().
  void count(std::function<std::uint64_t()> bytes) { counted_ = std::move(bytes); }
  // A loop that takes part from now on.
  std::shared_ptr<LoopMemory> open();
  // The loops are there: what the process has now beside what they say is its own. `keys`: whose holders may be blamed
  // for what the sockets have; null: nobody is. There until end().
  void begin(Authenticator* keys = nullptr);
  // Nothing is looked at or asked any more.
  void end();

 private:
  void work(const std::stop_token& stop);
  void look();
  [[nodiscard]] std::string blamed();

  std::mutex mutex_;
  std::condition_variable_any ending_;
  std::vector<std::shared_ptr<LoopMemory>> loops_;
  MemoryAccount account_;  // the thread's
  std::function<std::uint64_t()> counted_;
  Authenticator* keys_ = nullptr;
  std::jthread thread_;
};

}  // namespace ballast
