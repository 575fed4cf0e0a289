// A worker's connections to lanes, over real sockets: one that is over is followed by another, and the others stand.
#include "worker/lane_sockets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/net/peer.h"
#include "common/net/server_socket.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr SessionId kWorkersSession = 7;

std::uint32_t number_of(const Received& received) { return parse_routing_id(received.peer).value().connection; }

TEST_CASE("a connection to a lane that is over is told, the next one has another name, and what it had is let go of") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ReleaseQueue releases;
    const std::vector<std::byte> payload(1 << 20);
    zmq::context_t context;
    ServerSocket lane(context, {}, addresses.make(transport));
    ServerSocket other(context, {}, addresses.make(transport));
    LaneSockets sockets(kWorkersSession, nullptr);
    sockets.open(1, 2, {});
    sockets.connect(0, lane->endpoint());
    sockets.connect(1, other->endpoint());
    for (const std::uint32_t link : {0U, 1U}) {
      sockets.send(link, LaneHello{});
    }
    CHECK(number_of(receive_from(*lane)) == 0);
    CHECK(number_of(receive_from(*other)) == 0);

    lane.renew();
    // Some before it is known and some afterwards, over whichever connection there is.
    std::vector<std::uint32_t> over;
    std::uint64_t sent = 0;
    eventually([&] {
      sockets.send(0, Push{}, {payload.data(), payload.size(), {sent++, 0, nullptr, 0}, &releases});
      const auto more = sockets.tick(monotonic_micros());
      over.insert(over.end(), more.begin(), more.end());
      return !over.empty();
    });
    CHECK(std::ranges::count(over, 1U) == 0);
    eventually([&] {
      for (const auto link : sockets.tick(monotonic_micros())) {
        CHECK(link == 0);
      }
      sockets.send(0, LaneHello{});
      const auto received = lane->receive();
      return received && !received->payload && number_of(*received) > 0;
    });
    sockets.send(1, LaneHello{});
    CHECK(number_of(receive_from(*other)) == 0);
    sockets.close();
    const auto released = wait_for_releases(releases, sent);
    CHECK(released.size() == sent);
  }
}

}  // namespace
}  // namespace ballast
