#include "common/net/socket.h"

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/net/clock.h"
#include "common/net/frames.h"
#include "common/net/tsan.h"

namespace ballast {

namespace {

constexpr int kProbeSeconds = 2;  // an idle connection's peer is asked so often whether it is there
constexpr int kProbes = 5;
constexpr int kUnansweredMs = 10'000;  // data that were sent may stay unacknowledged for so long
constexpr int kHandshakeMs = 10'000;   // who connects and says nothing for so long is cut

struct BorrowedNote {
  Released released;
  ReleaseQueue* queue;
};

void let_go(void* /*data*/, void* hint) {
  const std::unique_ptr<BorrowedNote> note(static_cast<BorrowedNote*>(hint));
  BALLAST_TSAN_ACQUIRE(note.get());
  note->released.at = monotonic_micros();
  note->queue->put(note->released);
}

zmq::message_t borrow(const Borrowed& payload) {
  auto note = std::make_unique<BorrowedNote>(BorrowedNote{payload.released, payload.queue});
  BALLAST_TSAN_RELEASE(note.get());
  // ZeroMQ takes a pointer to non-const but only reads.
  return {const_cast<void*>(payload.data), payload.size, let_go, note.release()};  // NOLINT
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

}  // namespace

std::string_view Frame::key() const {
  const auto* const key = zmq_msg_gets(message_.handle(), "User-Id");
  return key == nullptr ? std::string_view() : std::string_view(key);
}

std::string_view Frame::host() const {
  const auto* const host = zmq_msg_gets(message_.handle(), "Peer-Address");
  return host == nullptr ? std::string_view() : std::string_view(host);
}

int Frame::descriptor() const { return zmq_msg_get(message_.handle(), ZMQ_SRCFD); }

zmq::context_t make_context() {
  zmq::context_t context;
  context.set(zmq::ctxopt::max_sockets, kMaxSockets);
  return context;
}

Socket::Socket(zmq::context_t& context, zmq::socket_type type, const SocketOptions& options)
    : context_(context),
      type_(type),
      options_(options),
      socket_(make()),
      is_router_(type == zmq::socket_type::router) {}

zmq::socket_t Socket::make() {
  zmq::socket_t made(context_, type_);
  made.set(zmq::sockopt::linger, options_.linger_ms);
  const bool is_router = type_ == zmq::socket_type::router;
  // High-water marks count messages, at a number that means nothing for weights and gradients: these are bounded in
  // bytes, by credits and reply windows, before they reach the transport. But anybody may connect to a ROUTER, and
  // small messages cost a hundred times their size.
  made.set(zmq::sockopt::sndhwm, options_.unsent);
  made.set(zmq::sockopt::rcvhwm, is_router ? options_.unread : 0);
  made.set(zmq::sockopt::maxmsgsize, frame_limit(is_router, options_.frame_bytes));
  if (options_.buffer_bytes > 0) {
    made.set(zmq::sockopt::sndbuf, options_.buffer_bytes);
    made.set(zmq::sockopt::rcvbuf, options_.buffer_bytes);
  }
  // A peer that is dead without a word is cut, and with it go the messages kept for it. The kernel finds that out, and
  // not ZeroMQ's heartbeats: libzmq (4.3.4, 4.3.5) aborts the process when one is due on a connection that broke while
  // its input was stopped, as that of a peer whose name another connection has taken over; and behind a message that
  // takes a slow link longer than their timeout they cut who is there.
  made.set(zmq::sockopt::tcp_keepalive, 1);
  made.set(zmq::sockopt::tcp_keepalive_idle, kProbeSeconds);
  made.set(zmq::sockopt::tcp_keepalive_intvl, kProbeSeconds);
  made.set(zmq::sockopt::tcp_keepalive_cnt, kProbes);
  made.set(zmq::sockopt::tcp_maxrt, kUnansweredMs);
  made.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  return made;
}

bool Socket::renew() {
  try {
    auto made = make();
    socket_.set(zmq::sockopt::linger, 0);
    socket_.close();
    socket_ = std::move(made);
  } catch (const zmq::error_t&) {
    return false;
  }
  is_skipping_ = false;
  return true;
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
    if (!send_first(id, true)) {
      return false;
    }
    return send_frame(socket_, header, payload != nullptr) &&
           (payload == nullptr || send_frame(socket_, *payload, false));
  }
  return send_first(header, payload != nullptr) && (payload == nullptr || send_frame(socket_, *payload, false));
}

bool Socket::send_first(zmq::message_t& frame, bool more) {
  if (send_frame(socket_, frame, more)) {
    return true;
  }
  is_unreachable_ = zmq_errno() == EHOSTUNREACH;
  return false;
}

std::optional<Received> Socket::receive() {
  if (is_skipping_ && !skip()) {
    return std::nullopt;
  }
  const std::size_t most = is_router_ ? 3 : 2;
  std::vector<zmq::message_t> frames(1);
  while (receive_frame(socket_, frames.back())) {
    if (!frames.back().more()) {
      take_in(frames);
      return received(frames, is_router_);
    }
    if (frames.size() == most) {
      is_skipping_ = true;
      Received malformed;
      malformed.malformed = true;
      malformed.peer = is_router_ ? frames.front().to_string() : std::string();
      take_in(frames);
      skip();
      return malformed;
    }
    frames.emplace_back();
  }
  return std::nullopt;
}

// The first frame is the peer's name, which did not come over the wire.
void Socket::take_in(std::vector<zmq::message_t>& frames) const {
  if (options_.intake && frames.size() > 1) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i < frames.size(); ++i) {
      bytes += Intake::wire_bytes(frames[i].size());
    }
    options_.intake->add(frames.back(), bytes);
  }
}

// Whether the message that is skipped has ended.
bool Socket::skip() {
  zmq::message_t part;
  zmq::message_t newest;
  std::uint64_t bytes = 0;
  for (int i = 0; is_skipping_ && i < kPartsAtOnce && receive_frame(socket_, part); ++i) {
    is_skipping_ = part.more();
    bytes += Intake::wire_bytes(part.size());
    newest = std::move(part);
    part.rebuild();
  }
  if (options_.intake && bytes > 0) {
    options_.intake->add(newest, bytes);
  }
  return !is_skipping_;
}

void Poll::add(Socket& socket) {
  items_.push_back({nullptr, 0, ZMQ_POLLIN, 0});
  sockets_.push_back(&socket);
}

void Poll::add(int fd) {
  items_.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  sockets_.push_back(nullptr);
}

bool Poll::wait(long timeout_ms) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (sockets_[i] != nullptr) {
      items_[i].socket = sockets_[i]->raw().handle();
    }
  }
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
