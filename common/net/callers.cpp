#include "common/net/callers.h"

#include <netdb.h>
#include <sys/socket.h>

#include <utility>

namespace ballast {

namespace {

// Where a connection comes from; empty if it is gone already.
std::string caller_of(int descriptor) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  auto* address = reinterpret_cast<sockaddr*>(&peer);
  if (::getpeername(descriptor, address, &size) != 0) {
    return {};
  }
  if (peer.ss_family == AF_UNIX) {
    return "this machine";
  }
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return std::string(host.data()).append(":").append(port.data());
}

RefusedHandshake reason_of(const SocketEvent& event) {
  if (event.number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    return event.value == kBarredStatusNumber ? RefusedHandshake::barred_key : RefusedHandshake::unknown_key;
  }
  if (event.number == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) {
    return RefusedHandshake::broken_off;
  }
  switch (event.value) {
    case ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC:
      return RefusedHandshake::other_server;
    case ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:
      return RefusedHandshake::unencrypted;
    default:
      return RefusedHandshake::malformed;
  }
}

bool is_refusal(const SocketEvent& event) {
  return event.number == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL || event.number == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL ||
         event.number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
}

}  // namespace

std::string_view text_of(RefusedHandshake reason) {
  switch (reason) {
    case RefusedHandshake::unknown_key:
      return "its key is not among the allowed ones";
    case RefusedHandshake::other_server:
      return "it expects a server with another key";
    case RefusedHandshake::unencrypted:
      return "one end has keys, and the other has none";
    case RefusedHandshake::malformed:
      return "it is none of ZeroMQ's";
    case RefusedHandshake::broken_off:
      return "it was broken off, or took too long";
    case RefusedHandshake::barred_key:
      return "its key is refused for a while";
  }
  return {};
}

Callers::Refusals Callers::refusals() {
  while (const auto event = monitor_.next()) {
    take(*event);
  }
  return std::exchange(refusals_, {});
}

std::vector<Callers::Change> Callers::changes() {
  while (const auto event = monitor_.next()) {
    take(*event);
  }
  return std::exchange(changes_, {});
}

std::optional<int> Callers::listening() {
  while (const auto event = listening_ ? std::nullopt : monitor_.next()) {
    take(*event);
  }
  return listening_;
}

// Of a refusal ZeroMQ tells no connection; that ends next, as it seems from one thread of ZeroMQ's: only then is the
// refusal counted, for somebody may ask in between. With several threads, the address may be that of another which ends
// at the same instant.
void Callers::take(const SocketEvent& event) {
  const auto descriptor = static_cast<int>(event.value);
  if (tells_changes_ && (event.number == ZMQ_EVENT_ACCEPTED || event.number == ZMQ_EVENT_DISCONNECTED)) {
    changes_.push_back({descriptor, event.number == ZMQ_EVENT_ACCEPTED});
  }
  if (event.number == ZMQ_EVENT_LISTENING) {
    listening_ = descriptor;
  } else if (event.number == ZMQ_EVENT_ACCEPTED) {
    connections_[descriptor] = caller_of(descriptor);
  } else if (is_refusal(event)) {
    count(std::exchange(refused_, reason_of(event)));
  } else if (event.number == ZMQ_EVENT_DISCONNECTED) {
    const auto found = connections_.find(descriptor);
    if (refused_ && refusals_.told.size() < kMostRefusals) {
      refusals_.told.push_back({*refused_, found == connections_.end() ? std::string() : found->second});
    } else {
      count(refused_);
    }
    refused_.reset();
    if (found != connections_.end()) {
      connections_.erase(found);
    }
  }
}

void Callers::count(std::optional<RefusedHandshake> refused) {
  if (refused) {
    ++refusals_.more[static_cast<std::size_t>(*refused)];
  }
}

}  // namespace ballast
