// The socket of whoever connects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/keys/client_keys.h"
#include "common/net/monitor.h"
#include "common/net/socket.h"

namespace ballast {

// One connection at a time, to one peer. A connection that has ended, or does not come about, is followed by another
// one, after 20 ms and then ever later up to half a second: a new socket of ZeroMQ's with a routing id that was never
// used before, so that nobody need guess which of two connections a message came over, and nobody takes another's
// name. What was sent over the earlier one and has not arrived is lost.
class Dealer : public Socket {
 public:
  // The connection of number n has `routing_id` and, if n is not 0, n as 4 bytes behind it and 8 random ones, as
  // common/net/peer.h reads it: who could guess a name could connect by it first, and ZeroMQ would hear nobody else of
  // that name. `keys`: null if it has none; must outlive this.
  Dealer(zmq::context_t& context, std::string_view routing_id, const SocketOptions& options = {},
         ClientKeys* keys = nullptr);
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  // Connects now or whenever the peer is there; again: to another peer instead. A host that is a name is looked up by
  // tick(), at first and again when the peer is gone or silent: it may have come back under another address
  // (common/net/dial.h).
  void connect(const std::string& address);
  // At every turn or tick of the loop, for it is here that a new connection is begun. Never waits, also not for the
  // resolver.
  void tick(Micros now);
  // Whether one that speaks ZeroMQ is there, and has taken our key if there are keys. It need not have said anything.
  [[nodiscard]] bool is_connected() const { return connected_; }
  // Whether later connections have the first one's routing id as well: for a peer of a release that answers by no
  // other, and lets a newcomer take over a name.
  void keep_name(bool keep) { keeps_name_ = keep; }
  // How many connections there have been, this one not among them.
  [[nodiscard]] std::uint32_t connections() const { return connection_; }
  // Why the newest handshake came to nothing, for a person; empty if it did not, or there was none.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  bool send(std::string_view peer, std::span<const std::byte> header);
  bool send(std::string_view peer, std::span<const std::byte> header, const Borrowed& payload);
  std::optional<Received> receive();
  void close();

 private:
  struct Named;

  void open(Micros now);
  void begin_anew(Micros now);
  void take_events(Micros now);
  void take(const SocketEvent& event, Micros now);
  void ended(Micros now);
  [[nodiscard]] std::string text_of_refusal(const SocketEvent& event) const;
  bool sent(bool taken);

  const std::string routing_id_;
  ClientKeys* keys_;
  std::string address_;           // of the connection, or of that to come; empty: none yet
  std::unique_ptr<Named> named_;  // null: the peer's address is a number, or a path
  std::unique_ptr<Monitor> monitor_;
  std::uint32_t connection_ = 0;
  bool keeps_name_ = false;
  bool is_open_ = false;  // the socket has been told to connect
  bool connected_ = false;
  bool is_over_ = false;  // a send was not taken
  Micros opened_at_ = 0;
  Micros open_at_ = 0;  // the next one
  Micros wait_;         // before it
  std::string refusal_;
};

}  // namespace ballast
