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
  std::uint32_t connection = 0;
};
struct ClientPeer {};  // asks for the status
using Peer = std::variant<SessionPeer, LanePeer, ClientPeer>;

// `connection` counts the sockets that the session opens to the same peer, one in place of another. Each has a name of
// its own: one that is still closing might else connect after the next, and take that one's name over for good.
std::string session_routing_id(SessionId session, std::uint32_t connection = 0);
std::string lane_routing_id(LaneId lane, Incarnation incarnation);
std::string client_routing_id(std::uint64_t random);

// For logs: "session 17", "shard 1, lane 0", "a command line".
std::string name_of_peer(const Peer& peer);

// Nothing for an id that no Ballast process gives itself.
std::optional<Peer> parse_routing_id(std::string_view id);

}  // namespace ballast
