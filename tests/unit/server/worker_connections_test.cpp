#include "server/worker_connections.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

void say_hello(Dealer& socket, bool takes_calls = true) {
  Encoder encoder;
  LaneHello hello;
  hello.takes_calls = takes_calls;
  REQUIRE(socket.send("", encoder.encode(hello)));
}

WorkerConnections::Incoming next_incoming(WorkerConnections& connections) {
  Turn turn;
  auto received = eventually([&] { return connections.receive(turn); });
  REQUIRE(std::holds_alternative<WorkerConnections::Incoming>(*received));
  return std::move(std::get<WorkerConnections::Incoming>(*received));
}

// The next end that is found; nothing of the peers' is to come meanwhile.
StandingConnections::Ended next_end(WorkerConnections& connections) {
  std::vector<StandingConnections::Ended> ended;
  eventually([&] {
    Turn turn;
    CHECK_FALSE(connections.tick(monotonic_micros()));
    CHECK_FALSE(connections.receive(turn));
    ended = connections.take_ended();
    return !ended.empty();
  });
  CHECK(ended.size() == 1);
  return ended.front();
}

TEST_CASE("each connection of a session is told apart, and who answers for it is the same") {
  for (const auto* transport : kTransports) {
    Addresses addresses;
    zmq::context_t context = make_context();
    WorkerConnections connections(context, 0, addresses.make(transport), "", kNoKeys);
    zmq::context_t others;
    Dealer first(others, session_routing_id(kSession), {.linger_ms = 0});
    Dealer second(others, routing_id_of(session_routing_id(kSession), 1, 4711), {.linger_ms = 0});
    Dealer stranger(others, session_routing_id(8), {.linger_ms = 0});
    std::vector<WorkerConnections::Incoming> heard;
    for (auto* socket : {&first, &second, &stranger}) {
      socket->connect(connections.address());
      say_hello(*socket);
      heard.push_back(next_incoming(connections));
    }
    CHECK(heard[0].connection > 0);
    CHECK(heard[1].connection > heard[0].connection);
    CHECK(heard[0].payer == heard[1].payer);
    CHECK(heard[0].payer == heard[2].payer);  // without keys: from the same host
    say_hello(first);
    CHECK(next_incoming(connections).connection == heard[0].connection);
    first.close();
    CHECK(next_end(connections) == StandingConnections::Ended{kSession, heard[0].connection});
    connections.drop(kSession, heard[1].connection);
    CHECK(next_end(connections) == StandingConnections::Ended{kSession, heard[1].connection});
    connections.renew();
    CHECK(connections.take_ended() == std::vector{StandingConnections::Ended{8, heard[2].connection}});
  }
}

TEST_CASE("beside one that speaks without end it is known by when all that had come was read") {
  for (const auto* transport : kTransports) {
    Addresses addresses;
    zmq::context_t context = make_context();
    WorkerConnections connections(context, 0, addresses.make(transport), "", kNoKeys);
    zmq::context_t others;
    Dealer busy(others, session_routing_id(kSession), {.linger_ms = 0});
    busy.connect(connections.address());
    Poll poll;
    connections.add_to(poll);
    Encoder encoder;
    const auto began = monotonic_micros();
    Turn turn;
    constexpr int kMost = 5'000;  // several times what may wait
    for (int i = 0; i < kMost && connections.read_up_at() <= began; ++i) {
      busy.send("", encoder.encode(CallVoid{1}));
      busy.send("", encoder.encode(CallVoid{1}));  // not taken, once enough waits
      eventually([&] { return poll.wait(10); });
      REQUIRE(connections.receive(turn));  // so none finds it empty
    }
    CHECK(connections.read_up_at() > began);
    CHECK(connections.read_up_at() <= monotonic_micros());
  }
}

TEST_CASE("who takes calls and does not read has its connection ended, and others are told no more meanwhile") {
  for (const auto* transport : kTransports) {
    for (const bool takes_calls : {true, false}) {
      CAPTURE(takes_calls);
      Addresses addresses;
      zmq::context_t context = make_context();
      WorkerConnections connections(context, 0, addresses.make(transport), "", kNoKeys);
      zmq::context_t others;
      Dealer deaf(others, session_routing_id(kSession), {.linger_ms = 0});
      deaf.raw().set(zmq::sockopt::rcvhwm, 1);
      deaf.connect(connections.address());
      say_hello(deaf, takes_calls);
      const auto connection = next_incoming(connections).connection;
      Refused refused;
      refused.text = std::string(wire::kMaxTextBytes, 'x');
      // As much as has room, and what the kernel takes beside it.
      for (int i = 0; i < 20'000 && connections.take_ended().empty(); ++i) {
        connections.send(kSession, refused);
      }
      if (takes_calls) {
        CHECK(next_end(connections) == StandingConnections::Ended{kSession, connection});
      } else {
        connections.tick(monotonic_micros());
        CHECK(connections.take_ended().empty());
      }
    }
  }
}

TEST_CASE("what a connection that has ended was to be sent is let go of once, found out or not") {
  for (const auto* transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ReleaseQueue releases;
    zmq::context_t context = make_context();
    WorkerConnections connections(context, 0, addresses.make(transport), "", kNoKeys);
    zmq::context_t others;
    Dealer socket(others, session_routing_id(kSession), {.linger_ms = 0});
    socket.connect(connections.address());
    say_hello(socket);
    const auto connection = next_incoming(connections).connection;
    const std::vector<std::byte> bytes(1000);
    std::uint64_t sent = 0;
    const auto send = [&] {
      ++sent;
      connections.send(kSession, connection, Weights{}, {bytes.data(), bytes.size(), {sent, 0, nullptr, 0}, &releases});
    };
    socket.close();
    send();  // perhaps before anybody knows
    CHECK(next_end(connections) == StandingConnections::Ended{kSession, connection});
    send();
    send();
    auto released = wait_for_releases(releases, sent);
    ::usleep(20'000);
    const auto more = releases.take();
    CHECK(more.empty());
    std::ranges::sort(released, {}, &Released::owner);
    CHECK(released.size() == sent);
    for (std::uint64_t i = 0; i < sent; ++i) {
      CHECK(released[i].owner == i + 1);
    }
    others.close();
    connections.close();
    context.close();
  }
}

// ---- a connection whose end nobody finds

// A connection of the session under its first name, that says nothing.
std::unique_ptr<Dealer> namesake(zmq::context_t& context, WorkerConnections& connections) {
  auto socket = std::make_unique<Dealer>(context, session_routing_id(kSession), SocketOptions{.linger_ms = 0});
  socket->connect(connections.address());
  return socket;
}

// Whether something is heard within a while. Also lets ZeroMQ see who comes and goes.
std::optional<WorkerConnections::Incoming> hear_for(WorkerConnections& connections, std::chrono::milliseconds time) {
  Turn turn;
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    if (auto received = connections.receive(turn)) {
      return std::move(std::get<WorkerConnections::Incoming>(*received));
    }
    ::usleep(1000);
  }
  return std::nullopt;
}

// A connection is over, and before anybody looks another one has its name, and has spoken.
ConnectionId with_heir(zmq::context_t& context, WorkerConnections& connections, std::unique_ptr<Dealer>& heir) {
  auto gone = namesake(context, connections);
  say_hello(*gone);
  const auto connection = next_incoming(connections).connection;
  gone->close();
  eventually([&] {
    hear_for(connections, std::chrono::milliseconds(30));  // so that its name is free
    heir = namesake(context, connections);
    say_hello(*heir);
    return hear_for(connections, std::chrono::milliseconds(300));  // it may have come before that
  });
  return connection;
}

// The one who has the name is ended, and before anybody looks there is another one, as a rule.
void take_name_again(zmq::context_t& context, WorkerConnections& connections, std::unique_ptr<Dealer>& heir) {
  eventually([&] {
    heir->tick(monotonic_micros());
    return heir->connections() > 0;
  });
  heir->close();
  hear_for(connections, std::chrono::milliseconds(50));
  heir = namesake(context, connections);
  eventually([&] {
    heir->tick(monotonic_micros());
    return heir->is_connected();
  });
  hear_for(connections, std::chrono::milliseconds(50));
}

constexpr Micros kUntilNext = StandingConnections::kDropPatience;

// A connection is dropped that does not end; its socket is due to be made anew, or would be, at the time that is told.
Micros drop_in_vain(zmq::context_t& context, WorkerConnections& connections, std::unique_ptr<Dealer>& heir,
                    Micros earliest, ConnectionId& dropped) {
  dropped = with_heir(context, connections, heir);
  connections.drop(kSession, dropped);
  const auto at = std::max(earliest, monotonic_micros());
  CHECK_FALSE(connections.tick(at + kUntilNext));
  take_name_again(context, connections, heir);
  CHECK_FALSE(connections.tick(at + 2 * kUntilNext - 1));
  return at + 2 * kUntilNext;
}

// Whether it came to that; whoever comes too early finds the name taken, and never gets it.
bool renews_as_last_resort(const std::string& address) {
  constexpr Micros kApart = 30'000'000;
  zmq::context_t context = make_context();
  WorkerConnections connections(context, 0, address, "", kNoKeys);
  zmq::context_t others;
  std::unique_ptr<Dealer> heir;
  ConnectionId dropped = 0;
  const auto first = drop_in_vain(others, connections, heir, 0, dropped);
  if (!connections.tick(first)) {
    return false;
  }
  CHECK(connections.take_ended().empty());
  connections.renew();
  const auto ended = connections.take_ended();
  CHECK(std::ranges::count(ended, StandingConnections::Ended{kSession, dropped}) == 1);
  heir->close();
  // All are cut for it: not again at once.
  const auto second = drop_in_vain(others, connections, heir, first, dropped);
  const bool is_early = second < first + kApart;
  CHECK_FALSE((is_early && connections.tick(second)));
  CHECK_FALSE((is_early && connections.tick(first + kApart - 1)));
  return is_early && connections.tick(first + kApart);
}

TEST_CASE("when one that is dropped does not end, all are cut, and not again for thirty seconds") {
  Addresses addresses;
  bool renewed = false;
  for (int i = 0; i < 10 && !renewed; ++i) {
    renewed = renews_as_last_resort(addresses.make("tcp"));
  }
  CHECK(renewed);
}

}  // namespace
}  // namespace ballast
