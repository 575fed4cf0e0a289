#include "worker/lane_sockets.h"

#include <string>
#include <utility>
#include <variant>

#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/connected_peers.h"
#include "common/net/peer.h"

namespace ballast {

void LaneSockets::open(std::uint32_t shards, std::uint32_t lanes_per_shard, const ClusterSpec& cluster) {
  context_.set(zmq::ctxopt::io_threads, static_cast<int>(io_threads_of(cluster)));
  buffer_bytes_ = static_cast<int>(cluster.socket_buffer_bytes);
  per_shard_ = lanes_per_shard;
  links_.resize(std::size_t{shards} * lanes_per_shard);
}

// Bytes that an earlier connection still has are let go with it.
void LaneSockets::connect(std::uint32_t lane, const std::string& address) {
  auto& peer = links_[lane];
  if (!peer) {
    peer.reset(new Link{{context_, session_routing_id(session_), {.buffer_bytes = buffer_bytes_}, keys_}, {}, 0, {}});
  }
  peer->conversation = {};
  peer->system = {};
  peer->socket.connect(address);
  peer->connection = peer->socket.connections();
}

void LaneSockets::add_to(Poll& poll) {
  for (auto& peer : links_) {
    if (peer) {
      poll.add(peer->socket);
    }
  }
}

// A connection that is over goes with all that was queued for it; bytes that it has borrowed are let go.
std::vector<std::uint32_t> LaneSockets::tick(Micros now) {
  std::vector<std::uint32_t> over;
  for (std::uint32_t lane = 0; lane < size(); ++lane) {
    auto* peer = links_[lane].get();
    if (peer == nullptr) {
      continue;
    }
    peer->socket.tick(now);
    const auto connection = peer->socket.connections();
    if (std::exchange(peer->connection, connection) != connection) {
      peer->system = {};
      over.push_back(lane);
    }
  }
  return over;
}

void LaneSockets::close() {
  for (auto& peer : links_) {
    if (peer) {
      peer->socket.close();
    }
  }
}

std::optional<LinkInfo> LaneSockets::link(std::uint32_t lane) const {
  return links_[lane] ? link_info(links_[lane]->system) : std::nullopt;
}

std::uint32_t LaneSockets::next() { return std::exchange(next_, (next_ + 1) % size()); }

// Whether it is to be handled.
bool LaneSockets::heard(std::uint32_t lane, Decoded& decoded) {
  auto& conversation = links_[lane]->conversation;
  if (!conversation.heard(decoded)) {
    if (const auto& why = conversation.hopeless()) {
      hopeless_ = "lane " + std::to_string(lane) + *why;
    }
    return false;
  }
  if (const auto news = conversation.news()) {
    log_info("lane {} speaks {}", lane, *news);
  }
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    log_warn("a message of lane {} cannot be read: {}", lane, refused->text);
  }
  return true;
}

std::optional<LaneSockets::Incoming> LaneSockets::receive(std::uint32_t lane, Turn& turn) {
  while (auto received = links_[lane] ? links_[lane]->socket.receive() : std::nullopt) {
    const auto bytes = received->payload ? received->payload->size() : 0;
    turn.spend(bytes);
    if (auto& system = links_[lane]->system; system.descriptor != received->header.descriptor()) {
      system = {received->header.descriptor(), connection_cookie(received->header.descriptor())};
    }
    Incoming incoming{decode(received->header.bytes(), bytes, received->payload.has_value()),
                      std::move(received->payload)};
    if (heard(lane, incoming.decoded)) {
      return incoming;
    }
  }
  return std::nullopt;
}

std::span<const std::byte> LaneSockets::encode(Link& peer, const Message& message) {
  const auto version = peer.conversation.version();
  peer.conversation.sent();
  return encoder_.encode(message, version, {monotonic_micros()});
}

void LaneSockets::send(std::uint32_t lane, const Message& message) {
  auto& peer = *links_[lane];
  peer.socket.send({}, encode(peer, message));
}

void LaneSockets::send(std::uint32_t lane, const Message& message, const Borrowed& payload) {
  auto& peer = *links_[lane];
  peer.socket.send({}, encode(peer, message), payload);
}

}  // namespace ballast
