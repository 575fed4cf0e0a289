#include "common/net/dealer.h"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "common/net/address.h"
#include "common/net/address_fault.h"
#include "common/net/callers.h"
#include "common/net/clock.h"
#include "common/net/dial.h"
#include "common/net/name_lookup.h"
#include "common/net/peer.h"
#include "common/net/random_id.h"
#include "common/text/endpoint.h"

namespace ballast {

namespace {

// Where packets vanish, the kernel would try for two minutes, and so long would nobody look where the peer is now.
constexpr int kConnectMs = 5'000;
// ZeroMQ tells of every end. If one should go untold, the connection counts as ended nevertheless.
constexpr Micros kGiveUp = 20'000'000;
constexpr Micros kFirstWait = 20'000;
constexpr Micros kLongestWait = 500'000;

constexpr int kDealerEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                              ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                              ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

}  // namespace

// What a socket needs whose peer is known by a name.
struct Dealer::Named {
  std::string address;
  Dial dial;
  NameLookup lookup;
};

Dealer::Dealer(zmq::context_t& context, std::string_view routing_id, const SocketOptions& options, ClientKeys* keys)
    : Socket(context, zmq::socket_type::dealer, options), routing_id_(routing_id), keys_(keys), wait_(kFirstWait) {}

Dealer::~Dealer() { monitor_.reset(); }

void Dealer::connect(const std::string& address) {
  if (const auto fault = endpoint_fault(address); is_tcp(address) && !fault.empty()) {
    throw std::runtime_error("cannot connect: " + fault);
  }
  const auto now = monotonic_micros();
  begin_anew(now);
  wait_ = kFirstWait;
  open_at_ = now;
  named_.reset();
  address_.clear();
  if (is_named(address)) {
    named_ = std::make_unique<Named>();
    named_->address = address;
  } else {
    address_ = address;
  }
  tick(now);
}

// The connection, if there is one, is over; what is sent before the next one is lost. Where the process has no
// descriptor left, it is tried again at the next tick.
void Dealer::begin_anew(Micros now) {
  monitor_.reset();
  connected_ = false;
  is_over_ = is_open_ && !renew();
  if (is_over_) {
    return;
  }
  connection_ += std::exchange(is_open_, false) ? 1 : 0;
  open_at_ = now + wait_;
  wait_ = std::min(2 * wait_, kLongestWait);
}

void Dealer::open(Micros now) {
  const auto id = routing_id_of(routing_id_, keeps_name_ ? 0 : connection_, random_id());
  auto& socket = raw();
  socket.set(zmq::sockopt::routing_id, zmq::const_buffer(id.data(), id.size()));
  socket.set(zmq::sockopt::reconnect_ivl, -1);
  socket.set(zmq::sockopt::connect_timeout, kConnectMs);
  socket.set(zmq::sockopt::ipv6, address_.find('[') != std::string::npos);
  if (keys_ != nullptr) {
    const auto handshake = keys_->handshake(connection_);
    socket.set(zmq::sockopt::curve_serverkey, handshake.server_key);
    socket.set(zmq::sockopt::curve_publickey, handshake.own.public_key);
    socket.set(zmq::sockopt::curve_secretkey, handshake.own.secret_key);
  }
  is_open_ = true;
  opened_at_ = now;
  try {
    monitor_ = std::make_unique<Monitor>(context(), socket, kDealerEvents);
    socket.connect(address_);
  } catch (const zmq::error_t& error) {
    is_over_ = error.num() == EMFILE || error.num() == ENFILE || error.num() == ENOMEM;
    if (is_over_) {
      return;
    }
    throw std::runtime_error("cannot connect to " + address_ + ": " + why_not_taken(error));
  }
}

void Dealer::tick(Micros now) {
  take_events(now);
  if (is_open_ && (is_over_ || (!connected_ && now >= opened_at_ + kGiveUp))) {
    ended(now);
  }
  if (named_) {
    auto& dial = named_->dial;
    bool anew = dial.tick(now);
    if (const auto answer = named_->lookup.take()) {
      anew = dial.resolved(answer->found.addresses, now) || anew;
    }
    if (anew) {
      begin_anew(now);
      address_ = dial.address();
      open_at_ = now;
    }
    if (dial.takes_lookup(now)) {
      named_->lookup.begin(named_->address);
    }
  }
  if (!is_open_ && !address_.empty() && now >= open_at_) {
    open(now);
  }
}

void Dealer::take_events(Micros now) {
  while (const auto event = monitor_ ? monitor_->next() : std::nullopt) {
    take(*event, now);
  }
}

void Dealer::take(const SocketEvent& event, Micros now) {
  switch (event.number) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      connected_ = true;
      wait_ = kFirstWait;
      refusal_.clear();
      if (named_) {
        named_->dial.connected(now);
      }
      return;
    case ZMQ_EVENT_DISCONNECTED:
    case ZMQ_EVENT_CLOSED:
      return ended(now);
    default:
      refusal_ = text_of_refusal(event);
  }
}

// Of a peer by name another of its addresses may have its turn.
void Dealer::ended(Micros now) {
  const bool was_connected = connected_;
  begin_anew(now);
  if (named_) {
    if (was_connected) {
      named_->dial.lost(now);
    } else if (named_->dial.failed(now)) {
      address_ = named_->dial.address();
    }
  }
}

std::string Dealer::text_of_refusal(const SocketEvent& event) const {
  if (event.number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && event.value == kBarredStatusNumber) {
    return "it refuses the key of this process for a while: with it somebody has sent it messages without end, again "
           "and again (its log says more)";
  }
  if (event.number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    return "it does not allow the key of this process (" + (keys_ != nullptr ? keys_->path().string() : std::string()) +
           "): is the key's public half in the servers' allowed.keys?";
  }
  if (event.number == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL ||
      event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) {
    return keys_ == nullptr ? "it breaks off the handshake: it is no server of Ballast, or one that has keys, and this "
                              "process has none (--keys)"
                            : "it breaks off the handshake: it has no keys, or its key is none of the server keys in " +
                                  keys_->path().string();
  }
  return "what answers there does not speak as a server of Ballast";
}

// All that is sent is bounded before it gets here: if it isn't taken, there is no connection to take it.
bool Dealer::sent(bool taken) {
  is_over_ = is_over_ || (!taken && is_open_);
  return taken;
}

bool Dealer::send(std::string_view peer, std::span<const std::byte> header) { return sent(Socket::send(peer, header)); }

bool Dealer::send(std::string_view peer, std::span<const std::byte> header, const Borrowed& payload) {
  return sent(Socket::send(peer, header, payload));
}

std::optional<Received> Dealer::receive() {
  auto received = Socket::receive();
  if (received && named_) {
    named_->dial.heard(monotonic_micros());
  }
  return received;
}

void Dealer::close() {
  named_.reset();
  monitor_.reset();
  Socket::close();
}

}  // namespace ballast
