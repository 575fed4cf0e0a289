// What a worker's log says of a lead or a lane that does not answer, and of one that does again.
#pragma once

#include <optional>
#include <string>

#include "common/net/lead_reach.h"
#include "common/net/name_lookup.h"
#include "protocol/messages.h"
#include "protocol/worker/worker.h"

namespace ballast {

// One thread, the worker's loop. Names are looked up elsewhere.
class Reach {
 public:
  explicit Reach(const std::string& lead);

  // Once, before the loop.
  void begin(Micros now);
  // A message of the lead that could be read.
  void heard(const Message& message, Micros now);
  // At every tick. What is found out about a lane's address is to be fed to the core: its `why` may be empty.
  // `refusal` is that of the lead's newest handshake.
  std::optional<worker::Unreachable> tick(const Worker& core, Micros now, std::uint32_t lanes_per_shard,
                                          const std::string& refusal, bool connected);
  // Of the lead, as LeadReach has it.
  [[nodiscard]] Micros silence() const { return lead_.silence(); }

 private:
  void tell_lanes(const Worker& core, Micros now);

  LeadReach lead_;
  NameLookup lookup_;  // of lanes
  bool lost_ = false;  // the lead has given this worker up
  bool welcomed_ = false;
  std::string told_lanes_;
  Micros tell_lanes_at_ = 0;
};

}  // namespace ballast
