// A lane's socket for its workers: messages instead of frames.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "common/net/peer.h"
#include "common/net/server_socket.h"
#include "common/net/turn.h"
#include "common/net/unsent_replies.h"
#include "common/wire/versions.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"
#include "server/known_peers.h"
#include "server/server_keys.h"

namespace ballast {

// Answers a session by the newest connection of which it has heard, and in the version in which it spoke there. One
// thread.
class WorkerConnections {
 public:
  struct Incoming {
    SessionId session = 0;
    Message message;
    std::optional<Frame> payload;
    [[nodiscard]] std::uint64_t payload_bytes() const { return payload ? payload->size() : 0; }
  };
  // What came could not be read; whoever sent it has been told.
  struct Unreadable {};

  // Binds at once. `buffer_bytes`: as SocketOptions has them.
  WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes, const std::string& bind_address,
                    const std::string& advertised_host, const ServerKeys& keys,
                    std::shared_ptr<Intake> intake = nullptr);

  // Where others reach it.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return router_->gate(); }
  [[nodiscard]] Callers& callers() { return router_->callers(); }
  // At the loop's end: nobody looks at callers any more.
  void forget_callers() { router_->forget_callers(); }
  void add_to(Poll& poll) { poll.add(*router_); }
  void close() { router_->close(); }
  // Cuts all, as ServerSocket does; sessions go on over new connections.
  std::string renew() { return router_.renew(); }

  // When everything that had come was last read.
  [[nodiscard]] Micros read_up_at() const { return read_up_at_; }
  // Told, and not read by those it was told.
  [[nodiscard]] std::uint64_t unsent_bytes() const { return unsent_.bytes(); }

  // The next message; nothing if none is there. What it costs is spent of the turn.
  std::optional<std::variant<Incoming, Unreadable>> receive(Turn& turn);
  void send(SessionId session, const Message& message);
  void send(SessionId session, const Message& message, const Borrowed& payload);

 private:
  // Unsaid if the peer has not read enough of what it was told before: it asks again.
  void tell(const std::string& peer, const Message& message, std::uint32_t version, const Borrowed* payload = nullptr);
  Unreadable refuse(const std::string& peer, const Refused& refused, std::uint32_t version);

  ServerSocket router_;
  std::string address_;
  KnownPeers peers_;
  Encoder encoder_;
  UnsentReplies unsent_;
  Micros read_up_at_ = 0;
};

}  // namespace ballast
