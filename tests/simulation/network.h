// A network that loses, doubles, delays and reorders by chance, or does what a script says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "protocol/messages.h"
#include "tests/simulation/life.h"
#include "tests/simulation/process.h"
#include "tests/simulation/random.h"

namespace ballast::simulation {

// What becomes of a message.
struct Fate {
  std::uint32_t copies = 1;
  Micros delay = 0;  // 0: the network's own
};
// Of a scripted life; nothing said: the message arrives in time.
using Script = std::function<std::optional<Fate>(ProcessId from, ProcessId to, const Message& message)>;

class Network {
 public:
  explicit Network(const LifeSpec& life) : life_(life) {}

  void follow(Script script) { script_ = std::move(script); }
  [[nodiscard]] bool is_scripted() const { return static_cast<bool>(script_); }
  [[nodiscard]] Fate fate(Random& random, Micros now, ProcessId from, ProcessId to, const Message& message);
  // When a copy of a message that is sent now arrives.
  // `connection`: over which it goes, in order; 0: it may overtake others.
  [[nodiscard]] Micros arrival(Random& random, Micros now, ProcessId from, ProcessId to, const Fate& fate,
                               ConnectionId connection = 0);

  // In one direction.
  void cut(ProcessId from, ProcessId to, Micros until) { cut_until_[{from, to}] = until; }
  void slow(ProcessId from, ProcessId to, Micros more) { slow_links_[{from, to}] = more; }

  // How often it has done something to a message.
  [[nodiscard]] std::uint64_t faults() const { return faults_; }

 private:
  [[nodiscard]] bool is_cut(Micros now, ProcessId from, ProcessId to) const;
  [[nodiscard]] bool is_faulty(Micros now) const { return now < life_.faults.until; }

  const LifeSpec& life_;
  Script script_;
  std::map<std::tuple<ProcessId, ProcessId, ConnectionId>, Micros> last_arrival_;  // links keep their order
  std::map<std::pair<ProcessId, ProcessId>, Micros> cut_until_;                    // by sender and receiver
  std::map<std::pair<ProcessId, ProcessId>, Micros> slow_links_;  // what they add, by sender and receiver
  std::uint64_t faults_ = 0;
};

}  // namespace ballast::simulation
