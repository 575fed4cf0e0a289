// A lane's socket to the lead: messages instead of frames, and what the log says of a lead that does not take it.
#pragma once

#include <optional>
#include <string>

#include "common/net/dealer.h"
#include "common/net/lead_reach.h"
#include "common/trace/clock_offset.h"
#include "common/wire/versions.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"

namespace ballast {

// A refusal that comes again and again, because the lane goes on asking, is told once.
class RefusalNews {
 public:
  // The reason, if it is to be told; nothing if the message is no such refusal, or its reason is known.
  std::optional<std::string> of(const Message& message);

 private:
  std::string told_;
};

// One thread.
class LeadConnection {
 public:
  // `watched`: it says so, again and again but not often, if nobody is there. `job_yaml` is compared with that of a
  // lead which refuses it.
  LeadConnection(zmq::context_t& context, LaneId lane, Incarnation incarnation, const std::string& address,
                 bool watched, std::string job_yaml, ClientKeys* keys);

  void add_to(Poll& poll) { poll.add(socket_); }
  void close() { socket_.close(); }
  // Once, before the loop.
  void begin(Micros now);
  void tick(Micros now);
  // For how long there was no connection to the lead; 0 of a lane that is not the one to watch it.
  [[nodiscard]] Micros silence() const { return reach_ ? reach_->silence() : 0; }

  // The next message, or why it could not be read; nothing if none is there.
  std::optional<Decoded> receive();
  void send(const Message& message);
  // The lead's clock beside ours; nothing before it has answered.
  [[nodiscard]] std::optional<ClockReading> clock(Micros now) const { return clock_.reading(now); }
  // Why this lane and the lead can't talk: no version of the protocol is common to them.
  [[nodiscard]] std::optional<std::string> hopeless() const;

 private:
  // The log, and the lane by a text that it repeats.
  void tell(Decoded& decoded);

  std::string address_;
  Dealer socket_;
  Conversation conversation_;
  ClockOffset clock_;
  std::optional<LeadReach> reach_;
  std::string job_yaml_;
  RefusalNews refusals_;
  Encoder encoder_;
};

}  // namespace ballast
