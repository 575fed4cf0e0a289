#include "tests/simulation/network.h"

#include <algorithm>

namespace ballast::simulation {

bool Network::is_cut(Micros now, ProcessId from, ProcessId to) const {
  const auto link = cut_until_.find({from, to});
  return link != cut_until_.end() && now < link->second;
}

Fate Network::fate(Random& random, Micros now, ProcessId from, ProcessId to, const Message& message) {
  if (script_) {
    return script_(from, to, message).value_or(Fate{});
  }
  Fate fate;
  if (!is_faulty(now)) {
    return fate;
  }
  if (is_cut(now, from, to) || random.chance(life_.faults.loss)) {
    fate.copies = 0;
  } else if (random.chance(life_.faults.duplication)) {
    fate.copies = 2;
  }
  faults_ += fate.copies != 1 ? 1 : 0;
  return fate;
}

Micros Network::arrival(Random& random, Micros now, ProcessId from, ProcessId to, const Fate& fate,
                        ConnectionId connection) {
  auto& last = last_arrival_[{from, to, connection}];
  if (script_) {
    last = std::max(last, now + (fate.delay != 0 ? fate.delay : life_.delay_low));
    return last;
  }
  Micros time = now + random.between(life_.delay_low, life_.delay_high);
  if (is_faulty(now) && !slow_links_.empty()) {
    const auto slow = slow_links_.find({from, to});
    time += slow == slow_links_.end() ? 0 : random.between(0, slow->second);
  }
  if (is_faulty(now) && random.chance(life_.faults.slowness)) {
    ++faults_;
    time += random.between(0, life_.faults.slow_delay);
  }
  if (connection == 0 && is_faulty(now) && random.chance(life_.faults.reordering)) {
    ++faults_;
    return time;
  }
  last = std::max(last, time);
  return last;
}

}  // namespace ballast::simulation
