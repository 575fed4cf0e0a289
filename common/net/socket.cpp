#include "common/net/socket.h"

#include <memory>
#include <stdexcept>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace ballast {

namespace {

constexpr int kSocketBufferBytes = 4 << 20;
constexpr int kHeartbeatMs = 2000;
constexpr int kHeartbeatTimeoutMs = 10'000;

// The hand-over through the transport is a synchronisation that ThreadSanitizer cannot see in an uninstrumented libzmq.
struct BorrowedNote {
  Released released;
  ReleaseQueue* queue;
};

void let_go(void* /*data*/, void* hint) {
  const std::unique_ptr<BorrowedNote> note(static_cast<BorrowedNote*>(hint));
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(note.get());
#endif
  note->queue->put(note->released);
}

zmq::message_t borrow(const Borrowed& payload) {
  auto note = std::make_unique<BorrowedNote>(BorrowedNote{payload.released, payload.queue});
#if defined(__SANITIZE_THREAD__)
  __tsan_release(note.get());
#endif
  // ZeroMQ takes a pointer to non-const but only reads.
  return {const_cast<void*>(payload.data), payload.size, let_go, note.release()};  // NOLINT
}

}  // namespace

Socket::Socket(zmq::context_t& context, zmq::socket_type type, const SocketOptions& options)
    : socket_(context, type), is_router_(type == zmq::socket_type::router) {
  socket_.set(zmq::sockopt::linger, options.linger_ms);
  // High-water marks count messages and drop or block at a number that means nothing here. What is outstanding is
  // bounded in bytes by credits and reply windows before it reaches the transport.
  socket_.set(zmq::sockopt::sndhwm, 0);
  socket_.set(zmq::sockopt::rcvhwm, 0);
  socket_.set(zmq::sockopt::maxmsgsize, kMaxMessageBytes);
  socket_.set(zmq::sockopt::sndbuf, kSocketBufferBytes);
  socket_.set(zmq::sockopt::rcvbuf, kSocketBufferBytes);
  // A peer that is dead without a word is cut, and with it go the messages kept for it.
  socket_.set(zmq::sockopt::heartbeat_ivl, kHeartbeatMs);
  socket_.set(zmq::sockopt::heartbeat_timeout, kHeartbeatTimeoutMs);
  socket_.set(zmq::sockopt::heartbeat_ttl, kHeartbeatTimeoutMs);
}

bool Socket::send(std::string_view peer, std::span<const std::byte> header) { return send_frames(peer, header, nullptr); }

bool Socket::send(std::string_view peer, std::span<const std::byte> header, const Borrowed& payload) {
  auto message = borrow(payload);
  return send_frames(peer, header, &message);
}

bool Socket::send_frames(std::string_view peer, std::span<const std::byte> header, zmq::message_t* payload) {
  try {
    if (is_router_) {
      zmq::message_t id(peer.data(), peer.size());
      if (!socket_.send(id, zmq::send_flags::sndmore | zmq::send_flags::dontwait)) {
        return false;
      }
    }
    zmq::message_t body(header.data(), header.size());
    const auto more = payload != nullptr ? zmq::send_flags::sndmore : zmq::send_flags::none;
    if (!socket_.send(body, more | zmq::send_flags::dontwait)) {
      return false;
    }
    return payload == nullptr || socket_.send(*payload, zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t& error) {
    if (error.num() == EHOSTUNREACH) {
      return false;  // a router whose peer has gone
    }
    throw;
  }
}

std::optional<Received> Socket::receive() {
  std::vector<zmq::message_t> frames;
  while (true) {
    zmq::message_t frame;
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) {
      return std::nullopt;
    }
    const bool more = frame.more();
    if (frames.size() < 4) {
      frames.push_back(std::move(frame));
    }
    if (!more) {
      break;
    }
  }
  Received received;
  std::size_t at = 0;
  if (is_router_) {
    received.peer = frames[at++].to_string();
  }
  const auto left = frames.size() - at;
  if (left < 1 || left > 2) {
    received.malformed = true;
    return received;
  }
  received.header = Frame(std::move(frames[at]));
  if (left == 2) {
    received.payload = Frame(std::move(frames[at + 1]));
  }
  return received;
}

Router::Router(zmq::context_t& context, const SocketOptions& options)
    : Socket(context, zmq::socket_type::router, options) {
  raw().set(zmq::sockopt::router_mandatory, 1);
  // A peer that reconnects before its old connection is known to be dead keeps its name.
  raw().set(zmq::sockopt::router_handover, 1);
}

std::string Router::bind(const std::string& address) {
  try {
    raw().bind(address);
  } catch (const zmq::error_t& error) {
    throw std::runtime_error("cannot bind " + address + ": " + error.what());
  }
  return raw().get(zmq::sockopt::last_endpoint);
}

Dealer::Dealer(zmq::context_t& context, std::string_view routing_id, const SocketOptions& options)
    : Socket(context, zmq::socket_type::dealer, options) {
  raw().set(zmq::sockopt::routing_id, zmq::const_buffer(routing_id.data(), routing_id.size()));
  raw().set(zmq::sockopt::reconnect_ivl, 20);
  raw().set(zmq::sockopt::reconnect_ivl_max, 500);
}

void Dealer::connect(const std::string& address) {
  try {
    raw().connect(address);
  } catch (const zmq::error_t& error) {
    throw std::runtime_error("cannot connect to " + address + ": " + error.what());
  }
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

bool is_local_address(const std::string& address) {
  return address.starts_with("ipc://") || address.starts_with("tcp://127.") || address.starts_with("tcp://localhost:") ||
         address.starts_with("tcp://[::1]:");
}

std::string advertised_address(const std::string& bound, const std::string& host) {
  const auto port = bound.rfind(':');
  if (host.empty() || !bound.starts_with("tcp://") || port == std::string::npos) {
    return bound;
  }
  return "tcp://" + host + bound.substr(port);
}

}  // namespace ballast
