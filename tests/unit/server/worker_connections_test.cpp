#include "server/worker_connections.h"

#include <doctest/doctest.h>

#include <array>
#include <utility>

#include "common/net/peer.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr SessionId kSession = 7;
const ServerKeys kNoKeys;

void say(Dealer& socket, Version version, std::uint32_t protocol = kProtocolVersion) {
  Encoder encoder;
  Pull pull;
  pull.version = version;
  pull.chunks = {0};
  REQUIRE(socket.send("", encoder.encode(pull, protocol)));
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

// What comes next; of version 0 if nothing does.
Decoded next_answer(Dealer& socket) {
  Poll poll;
  poll.add(socket);
  for (int i = 0; i < 500; ++i) {
    poll.wait(10);
    if (const auto received = socket.receive()) {
      return decode(received->header.bytes(), 0, false);
    }
  }
  return Refused{};
}

// A pull of as many chunks as there can be is answered for each of them, and has no payload.
TEST_CASE("long headers alone fill a turn") {
  Addresses addresses;
  zmq::context_t context = make_context();
  WorkerConnections connections(context, 0, addresses.make("ipc"), "", kNoKeys);
  Dealer socket(context, session_routing_id(kSession));
  socket.connect(connections.address());
  Pull pull;
  for (ChunkId chunk = 0; chunk < wire::kMaxPullChunks; ++chunk) {
    pull.chunks.push_back(chunk);
  }
  Encoder encoder;
  REQUIRE(socket.send("", encoder.encode(pull)));
  Turn turn;
  turn.begin(0);
  const auto received = eventually([&] { return connections.receive(turn); });
  CHECK(std::holds_alternative<WorkerConnections::Incoming>(*received));
  CHECK(turn.over(0));
  socket.close();
  connections.close();
  context.close();
}

// Whether an answer reaches the socket, in the version.
bool is_answered(WorkerConnections& connections, Dealer& socket, std::uint32_t protocol = kProtocolVersion) {
  connections.send(kSession, Stale{});
  const auto answer = next_answer(socket);
  return std::holds_alternative<Message>(answer) && answer.version == protocol;
}

// Reads what cannot be read, and the peer's refusal.
Decoded next_refusal(WorkerConnections& connections, Dealer& socket) {
  Turn turn;
  Poll poll;
  connections.add_to(poll);
  auto received = connections.receive(turn);
  for (int i = 0; i < 500 && !received; ++i) {
    poll.wait(10);
    received = connections.receive(turn);
  }
  REQUIRE(received);
  REQUIRE(std::holds_alternative<WorkerConnections::Unreadable>(*received));
  return next_answer(socket);
}

// An older socket may still be closing, and connect, when its successor has done so.
TEST_CASE("a socket that a session has replaced takes nothing over from the next one, however late it comes") {
  Addresses addresses;
  zmq::context_t context = make_context();
  WorkerConnections connections(context, 0, addresses.make("ipc"), "", kNoKeys);
  Dealer newer(context, routing_id_of(session_routing_id(kSession), 2));
  newer.connect(connections.address());
  say(newer, 1);
  CHECK(next_version(connections) == 1);
  {
    Dealer older(context, routing_id_of(session_routing_id(kSession), 1));
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

TEST_CASE("a session is answered in the version in which its newest connection last spoke") {
  constexpr auto kPrevious = kProtocolVersion - 1;
  Addresses addresses;
  zmq::context_t context = make_context();
  WorkerConnections connections(context, 0, addresses.make("ipc"), "", kNoKeys);
  Dealer socket(context, routing_id_of(session_routing_id(kSession), 2));
  socket.connect(connections.address());
  for (const auto protocol : {kPrevious, kProtocolVersion, kPrevious}) {
    say(socket, 1, protocol);
    CHECK(next_version(connections) == 1);
    CHECK(is_answered(connections, socket, protocol));
  }
  {
    Dealer older(context, routing_id_of(session_routing_id(kSession), 1));
    older.connect(connections.address());
    say(older, 2, kProtocolVersion);
    CHECK(next_version(connections) == 2);
    CHECK(is_answered(connections, socket, kPrevious));
    older.close();
  }
  // Refusals: of what cannot be read at all, of a version that is too old, of one that is too new.
  const std::array<std::byte, 3> nonsense{};
  REQUIRE(socket.send("", nonsense));
  CHECK(next_refusal(connections, socket).version == kPrevious);
  for (const auto& unspoken : {std::pair(kOldestProtocolVersion - 1, kOldestProtocolVersion - 1),
                               std::pair(kProtocolVersion + 1, kProtocolVersion)}) {
    say(socket, 1, unspoken.first);
    const auto refusal = next_refusal(connections, socket);
    CHECK(refusal.refuses_version);
    CHECK(refusal.version == unspoken.second);
  }
  CHECK(is_answered(connections, socket, kPrevious));
  socket.close();
  connections.close();
  context.close();
}

}  // namespace
}  // namespace ballast
