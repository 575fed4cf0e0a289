// Who a ROUTER's peer is, told by its routing id.
#pragma once

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
struct ClientPeer {};  // asks for the status
using Peer = std::variant<SessionPeer, LanePeer, ClientPeer>;

std::string session_routing_id(SessionId session);
std::string lane_routing_id(LaneId lane, Incarnation incarnation);
std::string client_routing_id(std::uint64_t random);

// Nothing for an id that no Ballast process gives itself.
std::optional<Peer> parse_routing_id(std::string_view id);

}  // namespace ballast
