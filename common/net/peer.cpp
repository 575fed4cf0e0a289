#include "common/net/peer.h"

#include <cstdint>

namespace ballast {

// routing id := 'w' session(8) [connection(4)]         if it is not 0
//             | 's' shard(2) lane(2) incarnation(8)
//             | 'c' random(8)                          numbers little-endian
namespace {

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

}  // namespace

std::string session_routing_id(SessionId session, std::uint32_t connection) {
  std::string id = "w";
  append(id, session, 8);
  if (connection != 0) {
    append(id, connection, 4);
  }
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

std::string name_of_peer(const Peer& peer) {
  if (const auto* session = std::get_if<SessionPeer>(&peer)) {
    return "session " + std::to_string(session->session);
  }
  if (const auto* lane = std::get_if<LanePeer>(&peer)) {
    return "shard " + std::to_string(lane->lane.shard) + ", lane " + std::to_string(lane->lane.lane);
  }
  return "a command line";
}

std::optional<Peer> parse_routing_id(std::string_view id) {
  if (id.size() == 9 && id[0] == 'w' && read(id, 1, 8) != 0) {
    return SessionPeer{read(id, 1, 8)};
  }
  if (id.size() == 13 && id[0] == 'w' && read(id, 1, 8) != 0 && read(id, 9, 4) != 0) {
    return SessionPeer{read(id, 1, 8), static_cast<std::uint32_t>(read(id, 9, 4))};
  }
  if (id.size() == 13 && id[0] == 's' && read(id, 5, 8) != 0) {
    return LanePeer{{static_cast<std::uint32_t>(read(id, 1, 2)), static_cast<std::uint32_t>(read(id, 3, 2))},
                    read(id, 5, 8)};
  }
  if (id.size() == 9 && id[0] == 'c') {
    return ClientPeer{};
  }
  return std::nullopt;
}

}  // namespace ballast
