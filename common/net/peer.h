// Who a ROUTER's peer is, told by its routing id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/ids.h"

namespace ballast {

struct LanePeer {
  LaneId lane;
  Incarnation incarnation = 0;
};
struct SessionPeer {
  SessionId session = 0;
};
struct ClientPeer {  // asks for the status
  std::uint64_t client = 0;
};
using Peer = std::variant<SessionPeer, LanePeer, ClientPeer>;

// Of the first connection of each to another. A later one, in place of one that is over, has its number behind that,
// and what nobody can guess (common/net/dealer.h): so none had the name before, and nobody can take it first.
std::string session_routing_id(SessionId session);
std::string lane_routing_id(LaneId lane, Incarnation incarnation);
std::string client_routing_id(std::uint64_t random);

// The routing id of the connection of this number, from that of the first, which is number 0. `secret`: random bits; 0:
// none, as in version 13 of the protocol.
std::string routing_id_of(std::string_view first, std::uint32_t connection, std::uint64_t secret = 0);

// Whose routing id it is, and of which of its connections.
struct PeerConnection {
  Peer peer;
  std::string_view id;     // this connection's routing id
  std::string_view first;  // that of its first connection, by which it is known
  std::uint32_t connection = 0;
};

// For logs: "session 17", "shard 1, lane 0", "a command line".
std::string name_of_peer(const Peer& peer);

// Nothing for an id that no Ballast process gives itself. `first` is a part of `id`.
std::optional<PeerConnection> parse_routing_id(std::string_view id);

}  // namespace ballast
