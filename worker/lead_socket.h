// A worker's socket to the lead: messages instead of frames, and what the log says of a lead that does not answer.
#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "common/net/dealer.h"
#include "common/trace/clock_offset.h"
#include "common/wire/versions.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"
#include "worker/reach.h"

namespace ballast {

// One thread.
class LeadSocket {
 public:
  // `keys`: null if it has none; outlive this.
  LeadSocket(const std::string& address, SessionId session, ClientKeys* keys);

  void add_to(Poll& poll) { poll.add(socket_); }
  void close() { socket_.close(); }
  // Once, before the loop.
  void begin(Micros now) { reach_.begin(now); }
  // At every tick: what was found out about a lane's address, which the core is to be told.
  std::optional<worker::Unreachable> tick(const Worker& core, Micros now, std::uint32_t lanes_per_shard) {
    socket_.keep_name(conversation_.version() <= kOneNameVersion);
    socket_.tick(now);
    return reach_.tick(core, now, lanes_per_shard, socket_.refusal(), socket_.is_connected());
  }
  // For how long the lead was not heard.
  [[nodiscard]] Micros silence() const { return reach_.silence(); }

  // The next message, or why it could not be read; nothing if none is there.
  std::optional<Decoded> receive();
  void send(const Message& message);
  // The lead's clock beside ours; nothing before it has answered.
  [[nodiscard]] std::optional<ClockReading> clock(Micros now) const { return clock_.reading(now); }
  // Why this worker and the lead can't talk: no version of the protocol is common to them.
  [[nodiscard]] std::optional<std::string> hopeless() const;

 private:
  std::string address_;
  zmq::context_t context_ = make_context();
  Dealer socket_;
  Reach reach_;
  Conversation conversation_;
  ClockOffset clock_;
  Encoder encoder_;
};

}  // namespace ballast
