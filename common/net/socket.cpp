#include "common/net/socket.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/net/address.h"
#include "common/net/clock.h"
#include "common/net/dial.h"
#include "common/net/name_lookup.h"
#include "common/net/tsan.h"
#include "common/text/endpoint.h"

namespace ballast {

namespace {

constexpr int kProbeSeconds = 2;  // an idle connection's peer is asked so often whether it is there
constexpr int kProbes = 5;
constexpr int kUnansweredMs = 10'000;  // data that were sent may stay unacknowledged for so long
constexpr int kHandshakeMs = 10'000;   // who connects and says nothing for so long is cut
constexpr int kConnectMs = 5'000;      // who does not answer the first packet for so long is tried anew

struct BorrowedNote {
  Released released;
  ReleaseQueue* queue;
};

void let_go(void* /*data*/, void* hint) {
  const std::unique_ptr<BorrowedNote> note(static_cast<BorrowedNote*>(hint));
  BALLAST_TSAN_ACQUIRE(note.get());
  note->queue->put(note->released);
}

zmq::message_t borrow(const Borrowed& payload) {
  auto note = std::make_unique<BorrowedNote>(BorrowedNote{payload.released, payload.queue});
  BALLAST_TSAN_RELEASE(note.get());
  // ZeroMQ takes a pointer to non-const but only reads.
  return {const_cast<void*>(payload.data), payload.size, let_go, note.release()};  // NOLINT
}

// False if the frame cannot be queued; then it is the caller's still. A signal is no reason to leave a message half
// sent.
bool send_frame(zmq::socket_t& socket, zmq::message_t& frame, bool more) {
  const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
  while (zmq_msg_send(frame.handle(), socket.handle(), flags) < 0) {
    const int reason = zmq_errno();
    if (reason == EAGAIN || reason == EHOSTUNREACH) {
      return false;
    }
    if (reason != EINTR) {
      throw zmq::error_t();
    }
  }
  return true;
}

// False if no frame is there.
bool receive_frame(zmq::socket_t& socket, zmq::message_t& frame) {
  while (zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT) < 0) {
    const int reason = zmq_errno();
    if (reason == EAGAIN) {
      return false;
    }
    if (reason != EINTR) {
      throw zmq::error_t();
    }
  }
  return true;
}

// Of a message that has no more frames than it may.
Received received(std::vector<zmq::message_t>& frames, bool is_router) {
  Received received;
  std::size_t at = 0;
  if (is_router) {
    received.peer = frames[at++].to_string();
  }
  if (at == frames.size()) {
    received.malformed = true;
    return received;
  }
  received.header = Frame(std::move(frames[at]));
  if (at + 1 < frames.size()) {
    received.payload = Frame(std::move(frames[at + 1]));
  }
  return received;
}

std::int64_t frame_limit(bool is_router, std::int64_t wanted) {
  return wanted > 0 ? wanted : is_router ? kMaxRouterFrameBytes : kMaxDealerFrameBytes;
}

bool is_tcp(const std::string& address) { return address.starts_with("tcp://"); }

// Why an address is not taken: ZeroMQ says of one that is none only that it is invalid.
std::string reason(const zmq::error_t& error) {
  const bool is_none = error.num() == EINVAL || error.num() == EPROTONOSUPPORT;
  return std::string(error.what()) + (is_none ? "; addresses are tcp://HOST:PORT or ipc://PATH" : "");
}

// What ZeroMQ tells of a socket is received from `events`, which is a ZMQ_PAIR.
void monitor(zmq::socket_t& socket, int which, zmq::socket_t& events) {
  const auto name = "inproc://events-" + std::to_string(reinterpret_cast<std::uintptr_t>(socket.handle()));
  if (zmq_socket_monitor(socket.handle(), name.c_str(), which) == 0) {
    events.connect(name);
  }
}

struct Event {
  std::uint16_t number = 0;
  std::int32_t value = 0;
  std::string address;
};

// An event has a frame of its number, 2 bytes, and its value, 4 bytes; and one of the address.
std::optional<Event> next_event(zmq::socket_t& events) {
  zmq::message_t frame;
  Event event;
  if (!receive_frame(events, frame) || frame.size() != sizeof(event.number) + sizeof(event.value)) {
    return std::nullopt;
  }
  std::memcpy(&event.number, frame.data(), sizeof(event.number));
  std::memcpy(&event.value, static_cast<const std::byte*>(frame.data()) + sizeof(event.number), sizeof(event.value));
  if (!receive_frame(events, frame)) {
    return std::nullopt;
  }
  event.address = frame.to_string();
  return event;
}

// Hears from a socket, while it is bound, by which descriptor it listens.
class Listening {
 public:
  Listening(zmq::context_t& context, zmq::socket_t& socket) : socket_(socket), events_(context, ZMQ_PAIR) {
    monitor(socket_, ZMQ_EVENT_LISTENING, events_);
  }
  ~Listening() { zmq_socket_monitor(socket_.handle(), nullptr, 0); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  // Of the newest bind.
  [[nodiscard]] std::optional<int> descriptor() const {
    const auto event = next_event(events_);
    return event && event->value >= 0 ? std::optional<int>(event->value) : std::nullopt;
  }

 private:
  zmq::socket_t& socket_;
  mutable zmq::socket_t events_;
};

}  // namespace

zmq::context_t make_context() {
  zmq::context_t context;
  context.set(zmq::ctxopt::max_sockets, kMaxSockets);
  return context;
}

Socket::Socket(zmq::context_t& context, zmq::socket_type type, const SocketOptions& options)
    : socket_(context, type), is_router_(type == zmq::socket_type::router) {
  socket_.set(zmq::sockopt::linger, options.linger_ms);
  // High-water marks count messages, at a number that means nothing for weights and gradients: these are bounded in
  // bytes, by credits and reply windows, before they reach the transport. But anybody may connect to a ROUTER, and
  // small messages cost a hundred times their size.
  socket_.set(zmq::sockopt::sndhwm, options.unsent);
  socket_.set(zmq::sockopt::rcvhwm, is_router_ ? options.unread : 0);
  socket_.set(zmq::sockopt::maxmsgsize, frame_limit(is_router_, options.frame_bytes));
  if (options.buffer_bytes > 0) {
    socket_.set(zmq::sockopt::sndbuf, options.buffer_bytes);
    socket_.set(zmq::sockopt::rcvbuf, options.buffer_bytes);
  }
  // A peer that is dead without a word is cut, and with it go the messages kept for it. The kernel finds that out, and
  // not ZeroMQ's heartbeats: libzmq (4.3.4, 4.3.5) aborts the process when one is due on a connection that broke while
  // its input was stopped, as that of a peer whose name another connection has taken over; and behind a message that
  // takes a slow link longer than their timeout they cut who is there.
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, kProbeSeconds);
  socket_.set(zmq::sockopt::tcp_keepalive_intvl, kProbeSeconds);
  socket_.set(zmq::sockopt::tcp_keepalive_cnt, kProbes);
  socket_.set(zmq::sockopt::tcp_maxrt, kUnansweredMs);
  socket_.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
}

bool Socket::send(std::string_view peer, std::span<const std::byte> header) {
  zmq::message_t frame(header.data(), header.size());
  return send_frames(peer, frame, nullptr);
}

bool Socket::send(std::string_view peer, std::span<const std::byte> header, const Borrowed& payload) {
  zmq::message_t frame(header.data(), header.size());
  return send(peer, frame, &payload);
}

bool Socket::send(std::string_view peer, zmq::message_t& header, const Borrowed* payload) {
  if (payload == nullptr) {
    return send_frames(peer, header, nullptr);
  }
  auto message = borrow(*payload);
  return send_frames(peer, header, &message);
}

// Only the first frame of a message can find no place: the peer that took it takes the others, or drops all of them
// if it goes in between.
bool Socket::send_frames(std::string_view peer, zmq::message_t& header, zmq::message_t* payload) {
  if (is_router_) {
    zmq::message_t id(peer.data(), peer.size());
    if (!send_frame(socket_, id, true)) {
      return false;
    }
  }
  return send_frame(socket_, header, payload != nullptr) &&
         (payload == nullptr || send_frame(socket_, *payload, false));
}

std::optional<Received> Socket::receive() {
  if (is_skipping_ && !skip()) {
    return std::nullopt;
  }
  const std::size_t most = is_router_ ? 3 : 2;
  std::vector<zmq::message_t> frames(1);
  while (receive_frame(socket_, frames.back())) {
    if (!frames.back().more()) {
      return received(frames, is_router_);
    }
    if (frames.size() == most) {
      is_skipping_ = true;
      Received malformed;
      malformed.malformed = true;
      malformed.peer = is_router_ ? frames.front().to_string() : std::string();
      skip();
      return malformed;
    }
    frames.emplace_back();
  }
  return std::nullopt;
}

// Whether the message that is skipped has ended.
bool Socket::skip() {
  zmq::message_t part;
  for (int i = 0; is_skipping_ && i < kPartsAtOnce && receive_frame(socket_, part); ++i) {
    is_skipping_ = part.more();
  }
  return !is_skipping_;
}

Router::Router(zmq::context_t& context, const SocketOptions& options)
    : Socket(context, zmq::socket_type::router, options), context_(context) {
  raw().set(zmq::sockopt::router_mandatory, 1);
  // A peer that reconnects before its old connection is known to be dead keeps its name.
  raw().set(zmq::sockopt::router_handover, 1);
}

std::string Router::bind(const std::string& address) {
  // ZeroMQ takes a port's last 16 bits.
  if (const auto fault = bind_fault(address); is_tcp(address) && !fault.empty()) {
    throw std::runtime_error("cannot bind: " + fault);
  }
  if (const auto why = why_ipc_not_bindable(address); !why.empty()) {
    throw std::runtime_error("cannot bind " + address + ": " + why);
  }
  const Listening listening(context_, raw());
  try {
    raw().set(zmq::sockopt::ipv6, address.find('[') != std::string::npos);
    raw().bind(address);
  } catch (const zmq::error_t& error) {
    throw std::runtime_error("cannot bind " + address + ": " + reason(error));
  }
  if (const auto descriptor = listening.descriptor()) {
    gate_ = std::make_shared<Gate>(*descriptor);
  }
  endpoint_ = raw().get(zmq::sockopt::last_endpoint);
  return endpoint_;
}

// ZeroMQ's thread closes the listening socket, and over ipc removes its file then: not before that is told may the next
// one make the file anew.
void Router::leave() {
  constexpr int kPatienceMs = 2'000;
  zmq::socket_t events(context_, ZMQ_PAIR);
  monitor(raw(), ZMQ_EVENT_CLOSED | ZMQ_EVENT_CLOSE_FAILED, events);
  gate_.reset();
  if (zmq_unbind(raw().handle(), endpoint_.c_str()) == 0) {
    zmq_pollitem_t told{events.handle(), 0, ZMQ_POLLIN, 0};
    zmq_poll(&told, 1, kPatienceMs);
  }
  zmq_socket_monitor(raw().handle(), nullptr, 0);
  raw().set(zmq::sockopt::linger, 0);
  close();
}

void Router::close() {
  gate_.reset();
  Socket::close();
}

// What a socket needs whose peer is known by a name.
struct Dealer::Named {
  std::string address;
  Dial dial;
  NameLookup lookup;
};

Dealer::Dealer(zmq::context_t& context, std::string_view routing_id, const SocketOptions& options)
    : Socket(context, zmq::socket_type::dealer, options), context_(context) {
  raw().set(zmq::sockopt::routing_id, zmq::const_buffer(routing_id.data(), routing_id.size()));
  raw().set(zmq::sockopt::reconnect_ivl, 20);
  raw().set(zmq::sockopt::reconnect_ivl_max, 500);
  // Where packets vanish, the kernel would try for two minutes, and so long would nobody look where the peer is now.
  raw().set(zmq::sockopt::connect_timeout, kConnectMs);
}

Dealer::~Dealer() { unwatch(); }

void Dealer::connect(const std::string& address) {
  if (const auto fault = endpoint_fault(address); is_tcp(address) && !fault.empty()) {
    throw std::runtime_error("cannot connect: " + fault);
  }
  if (!is_named(address)) {
    return connect_to(address);
  }
  named_ = std::make_unique<Named>();
  named_->address = address;
  watch();
  tick(monotonic_micros());
}

void Dealer::connect_to(const std::string& address) {
  try {
    raw().set(zmq::sockopt::ipv6, address.find('[') != std::string::npos);
    raw().connect(address);
  } catch (const zmq::error_t& error) {
    throw std::runtime_error("cannot connect to " + address + ": " + reason(error));
  }
}

void Dealer::watch() {
  if (!events_) {
    events_ = std::make_unique<zmq::socket_t>(context_, ZMQ_PAIR);
    monitor(raw(), ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED, *events_);
  }
}

// ZeroMQ tells before it goes on: with nobody to take what it tells, its thread would wait for ever, and every
// connection of the context with it. So it is to tell nothing any more first.
void Dealer::unwatch() {
  if (events_) {
    zmq_socket_monitor(raw().handle(), nullptr, 0);
    events_.reset();
  }
}

void Dealer::tick(Micros now) {
  if (!named_) {
    return;
  }
  take_events();
  auto& dial = named_->dial;
  const auto before = dial.address();
  bool anew = dial.tick(now);
  if (const auto answer = named_->lookup.take()) {
    anew = dial.resolved(answer->found.addresses, now) || anew;
  }
  if (anew) {
    redial(before);
  }
  if (dial.takes_lookup(now)) {
    named_->lookup.begin(named_->address);
  }
}

void Dealer::redial(const std::string& before) {
  if (!before.empty()) {
    zmq_disconnect(raw().handle(), before.c_str());  // refused if it is connected no more
  }
  connected_ = false;
  connect_to(named_->dial.address());
}

// Of an earlier address they are no news.
void Dealer::take_events() {
  while (const auto event = events_ ? next_event(*events_) : std::nullopt) {
    const auto before = named_ ? named_->dial.address() : std::string();
    if (named_ && event->address != before) {
      continue;
    }
    const auto now = monotonic_micros();
    if (event->number == ZMQ_EVENT_CONNECT_RETRIED) {
      if (named_ && named_->dial.failed(now)) {
        redial(before);
      }
      continue;
    }
    connected_ = event->number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    if (named_) {
      connected_ ? named_->dial.connected(now) : named_->dial.lost(now);
    }
  }
}

bool Dealer::is_connected() {
  take_events();
  return connected_;
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
  unwatch();
  Socket::close();
}

void Poll::add(Socket& socket) { items_.push_back({socket.raw().handle(), 0, ZMQ_POLLIN, 0}); }
void Poll::add(int fd) { items_.push_back({nullptr, fd, ZMQ_POLLIN, 0}); }

bool Poll::wait(long timeout_ms) {
  const int count = zmq_poll(items_.data(), static_cast<int>(items_.size()), timeout_ms);
  if (count < 0) {
    if (errno != EINTR) {
      throw std::runtime_error(std::string("poll failed: ") + zmq_strerror(errno));
    }
    for (auto& item : items_) {
      item.revents = 0;
    }
  }
  return count > 0;
}

}  // namespace ballast
