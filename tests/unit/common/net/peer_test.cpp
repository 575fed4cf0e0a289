#include "common/net/peer.h"

#include <doctest/doctest.h>

#include <limits>

namespace ballast {
namespace {

constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("routing ids say who the peer is") {
  for (const SessionId session : {SessionId{1}, SessionId{0x0102030405060708}, kMost}) {
    const auto peer = parse_routing_id(session_routing_id(session));
    REQUIRE(peer);
    REQUIRE(std::holds_alternative<SessionPeer>(*peer));
    CHECK(std::get<SessionPeer>(*peer).session == session);
    CHECK(std::get<SessionPeer>(*peer).connection == 0);
    const auto later = parse_routing_id(session_routing_id(session, 0x01020304));
    REQUIRE(later);
    REQUIRE(std::holds_alternative<SessionPeer>(*later));
    CHECK(std::get<SessionPeer>(*later).session == session);
    CHECK(std::get<SessionPeer>(*later).connection == 0x01020304);
  }
  for (const LaneId lane : {LaneId{0, 0}, LaneId{63, 15}, LaneId{65535, 65535}}) {
    const auto peer = parse_routing_id(lane_routing_id(lane, kMost));
    REQUIRE(peer);
    REQUIRE(std::holds_alternative<LanePeer>(*peer));
    CHECK(std::get<LanePeer>(*peer).lane == lane);
    CHECK(std::get<LanePeer>(*peer).incarnation == kMost);
  }
  const auto client = parse_routing_id(client_routing_id(5));
  REQUIRE(client);
  CHECK(std::holds_alternative<ClientPeer>(*client));
}

TEST_CASE("ids that no process of ours gives itself are nobody's") {
  for (const std::string& id :
       {std::string(), std::string("w"), std::string("w1234567"), session_routing_id(0), session_routing_id(1) + "x",
        session_routing_id(1) + std::string(4, '\0'), session_routing_id(0, 1), session_routing_id(1, 1) + "x",
        std::string("x12345678"), lane_routing_id({0, 0}, 0), lane_routing_id({0, 0}, 1).substr(0, 12),
        client_routing_id(1) + "x", std::string("\0abcd", 5), std::string(255, 'w')}) {
    CHECK_FALSE(parse_routing_id(id));
  }
}

}  // namespace
}  // namespace ballast
