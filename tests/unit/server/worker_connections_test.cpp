#include "server/worker_connections.h"

#include <doctest/doctest.h>

#include "common/net/peer.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr SessionId kSession = 7;

void say(Dealer& socket, Version version) {
  Encoder encoder;
  Pull pull;
  pull.version = version;
  pull.chunks = {0};
  REQUIRE(socket.send("", encoder.encode(pull)));
}

// The version in the next message, which is to come from the session.
Version next_version(WorkerConnections& connections) {
  Turn turn;
  Poll poll;
  connections.add_to(poll);
  auto received = connections.receive(turn);
  for (int i = 0; i < 500 && !received; ++i) {
    poll.wait(10);
    received = connections.receive(turn);
  }
  REQUIRE(received);
  const auto* incoming = std::get_if<WorkerConnections::Incoming>(&*received);
  REQUIRE(incoming != nullptr);
  CHECK(incoming->session == kSession);
  return std::get<Pull>(incoming->message).version;
}

bool is_answered(WorkerConnections& connections, Dealer& socket) {
  connections.send(kSession, Stale{});
  Poll poll;
  poll.add(socket);
  for (int i = 0; i < 500; ++i) {
    poll.wait(10);
    if (socket.receive()) {
      return true;
    }
  }
  return false;
}

// An older socket may still be closing, and connect, when its successor has done so.
TEST_CASE("a socket that a session has replaced takes nothing over from the next one, however late it comes") {
  Addresses addresses;
  zmq::context_t context = make_context();
  WorkerConnections connections(context, 0, addresses.make("ipc"), "");
  Dealer newer(context, session_routing_id(kSession, 2));
  newer.connect(connections.address());
  say(newer, 1);
  CHECK(next_version(connections) == 1);
  {
    Dealer older(context, session_routing_id(kSession, 1));
    older.connect(connections.address());
    say(older, 2);
    CHECK(next_version(connections) == 2);
    CHECK(is_answered(connections, newer));
    older.close();
  }
  say(newer, 3);
  CHECK(next_version(connections) == 3);
  CHECK(is_answered(connections, newer));
  newer.close();
  connections.close();
  context.close();
}

}  // namespace
}  // namespace ballast
