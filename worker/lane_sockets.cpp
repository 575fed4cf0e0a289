#include "worker/lane_sockets.h"

#include <utility>
#include <variant>

#include "common/log/log.h"
#include "common/net/peer.h"

namespace ballast {

void LaneSockets::open(std::uint32_t shards, std::uint32_t lanes_per_shard, const ClusterSpec& cluster) {
  context_.set(zmq::ctxopt::io_threads, static_cast<int>(io_threads_of(cluster)));
  buffer_bytes_ = static_cast<int>(cluster.socket_buffer_bytes);
  per_shard_ = lanes_per_shard;
  sockets_.resize(std::size_t{shards} * lanes_per_shard);
}

// A new socket, by a name that no earlier one had. Bytes that the old one still has are let go with it.
void LaneSockets::connect(std::uint32_t lane, const std::string& address) {
  auto& socket = sockets_[lane];
  if (socket) {
    socket->raw().set(zmq::sockopt::linger, 0);
    socket->close();
  }
  socket = std::make_unique<Dealer>(context_, session_routing_id(session_, ++connections_),
                                    SocketOptions{.buffer_bytes = buffer_bytes_});
  socket->connect(address);
}

void LaneSockets::add_to(Poll& poll) {
  for (auto& socket : sockets_) {
    if (socket) {
      poll.add(*socket);
    }
  }
}

void LaneSockets::tick(Micros now) {
  for (auto& socket : sockets_) {
    if (socket) {
      socket->tick(now);
    }
  }
}

void LaneSockets::close() {
  for (auto& socket : sockets_) {
    if (socket) {
      socket->close();
    }
  }
}

std::uint32_t LaneSockets::next() { return std::exchange(next_, (next_ + 1) % size()); }

std::optional<LaneSockets::Incoming> LaneSockets::receive(std::uint32_t lane, Turn& turn) {
  auto received = sockets_[lane] ? sockets_[lane]->receive() : std::nullopt;
  if (!received) {
    return std::nullopt;
  }
  const auto bytes = received->payload ? received->payload->size() : 0;
  turn.spend(bytes);
  Incoming incoming{decode(received->header.bytes(), bytes, received->payload.has_value()),
                    std::move(received->payload)};
  if (const auto* refused = std::get_if<Refused>(&incoming.decoded)) {
    log_warn("a message of lane {} cannot be read: {}", lane, refused->text);
  }
  return incoming;
}

void LaneSockets::send(std::uint32_t lane, const Message& message) {
  sockets_[lane]->send({}, encoder_.encode(message));
}

void LaneSockets::send(std::uint32_t lane, const Message& message, const Borrowed& payload) {
  sockets_[lane]->send({}, encoder_.encode(message), payload);
}

}  // namespace ballast
