#include "common/net/peer.h"

#include <doctest/doctest.h>

#include <limits>

namespace ballast {
namespace {

constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();

template <typename Of>
void check_connections(const std::string& first, const Of& check) {
  for (const std::uint32_t connection : {0U, 1U, 0x01020304U, 0xffffffffU}) {
    CAPTURE(connection);
    for (const std::uint64_t secret : {std::uint64_t{0}, kMost}) {
      const auto id = routing_id_of(first, connection, secret);
      const auto from = parse_routing_id(id);
      REQUIRE(from);
      CHECK(from->connection == connection);
      CHECK(from->first == first);
      CHECK(from->id == id);
      check(from->peer);
    }
  }
}

TEST_CASE("routing ids say who the peer is, and over which of its connections it speaks") {
  for (const SessionId session : {SessionId{1}, SessionId{0x0102030405060708}, kMost}) {
    check_connections(session_routing_id(session),
                      [&](const Peer& peer) { CHECK(std::get<SessionPeer>(peer).session == session); });
  }
  for (const LaneId lane : {LaneId{0, 0}, LaneId{63, 15}, LaneId{65535, 65535}}) {
    check_connections(lane_routing_id(lane, kMost), [&](const Peer& peer) {
      CHECK(std::get<LanePeer>(peer).lane == lane);
      CHECK(std::get<LanePeer>(peer).incarnation == kMost);
    });
  }
  check_connections(client_routing_id(5), [](const Peer& peer) { CHECK(std::get<ClientPeer>(peer).client == 5); });
}

TEST_CASE("ids that no process of ours gives itself are nobody's") {
  for (const std::string& id :
       {std::string(), std::string("w"), std::string("w1234567"), session_routing_id(0), session_routing_id(1) + "x",
        session_routing_id(1) + std::string(4, '\0'), routing_id_of(session_routing_id(0), 1),
        routing_id_of(session_routing_id(1), 1) + "x", std::string("x12345678"), lane_routing_id({0, 0}, 0),
        lane_routing_id({0, 0}, 1).substr(0, 12), lane_routing_id({0, 0}, 1) + std::string(4, '\0'),
        client_routing_id(1) + "x", std::string("\0abcd", 5), std::string(255, 'w')}) {
    CHECK_FALSE(parse_routing_id(id));
  }
}

}  // namespace
}  // namespace ballast
