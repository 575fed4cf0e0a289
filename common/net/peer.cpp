#include "common/net/peer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ballast {

// routing id := first [connection(4) [secret(8)]]      if they are not 0
// first := 'w' session(8)
//        | 's' shard(2) lane(2) incarnation(8)
//        | 'c' random(8)                               numbers little-endian
namespace {

constexpr std::size_t kConnectionBytes = 4;
constexpr std::size_t kSecretBytes = 8;

void append(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
  }
}

std::uint64_t read(std::string_view text, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)])} << (8 * i);
  }
  return value;
}

// Who has this first routing id.
std::optional<Peer> peer_of(std::string_view first) {
  if (first.size() == 9 && first[0] == 'w' && read(first, 1, 8) != 0) {
    return SessionPeer{read(first, 1, 8)};
  }
  if (first.size() == 13 && first[0] == 's' && read(first, 5, 8) != 0) {
    return LanePeer{{static_cast<std::uint32_t>(read(first, 1, 2)), static_cast<std::uint32_t>(read(first, 3, 2))},
                    read(first, 5, 8)};
  }
  if (first.size() == 9 && first[0] == 'c') {
    return ClientPeer{read(first, 1, 8)};
  }
  return std::nullopt;
}

}  // namespace

std::string session_routing_id(SessionId session) {
  std::string id = "w";
  append(id, session, 8);
  return id;
}

std::string lane_routing_id(LaneId lane, Incarnation incarnation) {
  std::string id = "s";
  append(id, lane.shard, 2);
  append(id, lane.lane, 2);
  append(id, incarnation, 8);
  return id;
}

std::string client_routing_id(std::uint64_t random) {
  std::string id = "c";
  append(id, random, 8);
  return id;
}

std::string routing_id_of(std::string_view first, std::uint32_t connection, std::uint64_t secret) {
  std::string id(first);
  if (connection != 0) {
    append(id, connection, static_cast<int>(kConnectionBytes));
    if (secret != 0) {
      append(id, secret, static_cast<int>(kSecretBytes));
    }
  }
  return id;
}

std::string name_of_peer(const Peer& peer) {
  if (const auto* session = std::get_if<SessionPeer>(&peer)) {
    return "session " + std::to_string(session->session);
  }
  if (const auto* lane = std::get_if<LanePeer>(&peer)) {
    return "shard " + std::to_string(lane->lane.shard) + ", lane " + std::to_string(lane->lane.lane);
  }
  return "a command line";
}

std::optional<PeerConnection> parse_routing_id(std::string_view id) {
  if (const auto peer = peer_of(id)) {
    return PeerConnection{*peer, id, id, 0};
  }
  for (const std::size_t more : {kConnectionBytes, kConnectionBytes + kSecretBytes}) {
    const auto first = id.substr(0, id.size() - std::min(more, id.size()));
    const auto peer = peer_of(first);
    const auto connection =
        peer ? static_cast<std::uint32_t>(read(id, first.size(), static_cast<int>(kConnectionBytes))) : 0;
    if (connection != 0) {
      return PeerConnection{*peer, id, first, connection};
    }
  }
  return std::nullopt;
}

}  // namespace ballast
