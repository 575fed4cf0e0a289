// What is to happen in a life, in the order of virtual time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <variant>
#include <vector>

#include "protocol/messages.h"
#include "tests/simulation/fault_events.h"
#include "tests/simulation/pending.h"
#include "tests/simulation/process.h"

namespace ballast::simulation {

struct Delivery {
  ProcessId from = kNobody;
  ConnectionId connection = 0;  // between a worker and a lane; 0: another way
  Micros arrives = 0;
  std::shared_ptr<const Message> message;
  std::optional<Payload> payload;
};
struct TickDue {};
// Of a scripted life: no part of the cluster.
using ScriptedAct = std::function<void()>;

using Happening = std::variant<Delivery, TickDue, Pending, FaultEvent, ScriptedAct>;

class Agenda {
 public:
  struct Entry {
    Micros time = 0;
    Micros due = 0;  // before its process stood still: what waits keeps its order
    std::uint64_t sequence = 0;
    ProcessId process = kNobody;
    Happening what;
  };

  [[nodiscard]] Micros now() const { return now_; }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  void add(Micros time, ProcessId process, Happening what);
  // Takes what is next, and goes on to its time.
  Entry take();
  void put_off(Entry entry, Micros time);

 private:
  // What the queue orders: entries themselves are large, and stay where they are.
  struct Place {
    Micros time = 0;
    Micros due = 0;
    std::uint64_t sequence = 0;
    std::size_t entry = 0;
    auto operator<=>(const Place&) const = default;
  };

  void queue(Entry entry);

  Micros now_ = 0;
  std::uint64_t sequence_ = 0;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> queue_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> free_;  // of entries_
};

}  // namespace ballast::simulation
