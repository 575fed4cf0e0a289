// A lane's socket for its workers: messages instead of frames.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/net/peer.h"
#include "common/net/server_socket.h"
#include "common/net/standing_connections.h"
#include "common/net/turn.h"
#include "common/net/unsent_replies.h"
#include "common/wire/versions.h"
#include "common/wire/wire.h"
#include "protocol/messages.h"
#include "server/known_peers.h"
#include "server/server_keys.h"

namespace ballast {

// Answers a session by the newest connection of which it has heard, with weights by the one that is named, and in the
// version in which it spoke there. Tells by which connection each message came and when it has ended. One thread.
class WorkerConnections {
 public:
  struct Incoming {
    SessionId session = 0;
    Message message;
    std::optional<Frame> payload;
    ConnectionId connection = 0;
    PayerId payer = 0;  // the sender's key, or without keys the host that it is at
    Micros sent = 0;    // by the sender's clock; 0: not told
    [[nodiscard]] std::uint64_t payload_bytes() const { return payload ? payload->size() : 0; }
  };
  // What came could not be read; whoever sent it has been told.
  struct Unreadable {
    RefusalCode why = RefusalCode::malformed;
  };

  // Binds at once. `buffer_bytes`: as SocketOptions has them.
  WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes, const std::string& bind_address,
                    const std::string& advertised_host, const ServerKeys& keys,
                    std::shared_ptr<Intake> intake = nullptr);

  // Where others reach it.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return router_->gate(); }
  [[nodiscard]] Callers& callers() { return router_->callers(); }
  void add_to(Poll& poll) { poll.add(*router_); }
  void close() { router_->close(); }
  // Cuts all, as ServerSocket does: all connections have ended. Sessions go on over new ones. Who was connected.
  std::string renew();

  // At every tick of the loop. True: a connection that is to be dropped does not end but by renew(), which is due.
  bool tick(Micros now);
  // Ends the session's connection, soon; take_ended() tells of it. Nothing if it has ended.
  void drop(SessionId session, ConnectionId connection);
  // Connections that have ended, since the last call: what came over them was received before.
  std::vector<StandingConnections::Ended> take_ended();

  // Everything that had come by then has been read, whether or not somebody speaks without end.
  [[nodiscard]] Micros read_up_at() const { return read_up_at_; }
  // The name of the key that the session has spoken with; empty: there are no keys, or it has not spoken.
  [[nodiscard]] std::string key_of(SessionId session) const { return peers_.key_of(session_routing_id(session)); }
  // Told, and not read by those it was told.
  [[nodiscard]] std::uint64_t unsent_bytes() const { return unsent_.bytes(); }

  // As StandingConnections has them.
  [[nodiscard]] std::vector<std::pair<SessionId, SystemSocket>> sockets() const { return standing_->sockets(); }

  // The next message; nothing if none is there. What it costs is spent of the turn.
  std::optional<std::variant<Incoming, Unreadable>> receive(Turn& turn);
  void send(SessionId session, const Message& message);
  // Over this connection, if it stands; else the payload is let go of at once.
  void send(SessionId session, ConnectionId connection, const Message& message, const Borrowed& payload);

 private:
  void watch(std::uint64_t after);
  void follow_rounds();
  // Unsaid if the peer has not read enough of what it was told before. If it takes calls, its connection is dropped
  // then: nothing is lost over one that stands but weights, for which it asks again.
  void tell(UnsentReplies::To peer, const Message& message, std::uint32_t version, const Borrowed* payload = nullptr);
  void not_told(const std::string& peer, bool is_payload);
  bool send_frame_to(const std::string& peer, zmq::message_t& frame, const Borrowed* payload);
  void probe(const StandingConnections::Probe& probe);
  Unreadable refuse(const Received& received, const Refused& refused, std::uint32_t version);

  ServerSocket router_;
  std::string address_;
  KnownPeers peers_;
  Encoder encoder_;
  UnsentReplies unsent_;
  std::unique_ptr<StandingConnections> standing_;  // never null; of the router that is now
  std::vector<StandingConnections::Ended> ended_;  // with the routers before it
  Micros read_up_at_ = 0;
  // A moment at which it is not known yet that all that had come was read.
  struct {
    ReadRounds::Moment moment = 0;
    Micros at = 0;
  } unread_since_;
  Micros renewed_at_ = 0;  // 0: never
};

}  // namespace ballast
