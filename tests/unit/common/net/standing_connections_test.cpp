// Ends of connections, over real sockets: never told before all that came over a connection has been read, and always
// afterwards, also beside one that never stops.
#include "common/net/standing_connections.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

using Ended = StandingConnections::Ended;

// A lane's socket, as its loop treats it.
class ServerOfSessions {
 public:
  explicit ServerOfSessions(const std::string& address) : router_(context_, {.tells_connections = true}) {
    router_.bind(address);
    standing_ = std::make_unique<StandingConnections>(router_, SocketOptions{}.unread);
  }

  Router& router() { return router_; }
  StandingConnections& standing() { return *standing_; }
  [[nodiscard]] const std::string& address() const { return router_.endpoint(); }
  ConnectionId last_of(SessionId session) { return last_[session]; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  // The next message, if one is there.
  std::optional<std::string> read() {
    const auto received = router_.receive();
    if (!received) {
      standing_->found_empty();
      return std::nullopt;
    }
    standing_->read(received->peer);
    const auto from = parse_routing_id(received->peer);
    const auto session = std::get<SessionPeer>(from->peer).session;
    last_[session] = standing_->heard(*from, session, received->header, monotonic_micros()).id;
    descriptor_ = received->header.descriptor();
    names_[last_[session]] = received->peer;
    return text_of(received->header);
  }
  std::string read_next() {
    return *eventually([this] { return read(); });
  }
  // Never when none is there, so that the socket is never found empty.
  std::string read_waiting() {
    eventually([this] { return (router_.raw().get(zmq::sockopt::events) & ZMQ_POLLIN) != 0; });
    return *read();
  }
  // Whether the message is taken.
  bool send(ConnectionId connection, const std::string& text = "answer") {
    if (router_.send(names_[connection], bytes_of(text))) {
      return true;
    }
    CHECK(router_.is_unreachable());
    standing_->unreachable(names_[connection]);
    return false;
  }
  void tick() {
    for (const auto& probe : standing_->probes(monotonic_micros())) {
      if (!router_.send(probe.routing_id, bytes_of("probe"))) {
        standing_->unreachable(probe.routing_id);
      }
    }
    CHECK_FALSE(standing_->drop_again(monotonic_micros()));
  }
  std::vector<Ended> ended_after(int wait_ms) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
    std::vector<Ended> all;
    while (std::chrono::steady_clock::now() < until) {
      turn(all);
      ::usleep(1000);
    }
    return all;
  }
  // The next end that is found.
  Ended next_end() {
    std::vector<Ended> all;
    eventually([&] {
      turn(all);
      return !all.empty();
    });
    CHECK(all.size() == 1);
    return all.front();
  }

 private:
  void turn(std::vector<Ended>& all) {
    tick();
    while (read()) {
    }
    for (const auto& ended : standing_->take_ended()) {
      all.push_back(ended);
    }
  }

  zmq::context_t context_;
  Router router_;
  std::unique_ptr<StandingConnections> standing_;
  std::map<SessionId, ConnectionId> last_;
  std::map<ConnectionId, std::string> names_;
  int descriptor_ = -1;
};

std::unique_ptr<Dealer> connected(zmq::context_t& context, ServerOfSessions& server, SessionId session,
                                  std::uint32_t number = 0, std::uint64_t secret = 0) {
  auto dealer = std::make_unique<Dealer>(context, routing_id_of(session_routing_id(session), number, secret));
  dealer->connect(server.address());
  REQUIRE(dealer->send("", bytes_of("hello")));
  return dealer;
}

// Whether the server's answer comes, after probes at most.
bool hears_answer(ServerOfSessions& server, Dealer& dealer, SessionId session) {
  CHECK(server.send(server.last_of(session)));
  return eventually([&] {
    const auto received = dealer.receive();
    return received && text_of(received->header) == "answer";
  });
}

constexpr int kLeftUnread = 50;

// Its connection ends with so many messages that the server has not read, and a send to it has found nobody.
ConnectionId leave_unread(zmq::context_t& context, ServerOfSessions& server, SessionId session) {
  auto dealer = connected(context, server, session);
  CHECK(server.read_next() == "hello");
  const auto connection = server.last_of(session);
  for (int i = 0; i < kLeftUnread; ++i) {
    REQUIRE(dealer->send("", bytes_of(std::to_string(i))));
  }
  dealer->raw().set(zmq::sockopt::linger, 60'000);
  dealer->close();
  // All has come when the server's end is closed, too. To one that is about to close nothing is sent: it would reset
  // the connection for what it does not read, and the kernel forget what had come.
  eventually([&] { return ::fcntl(server.descriptor(), F_GETFD) < 0; });
  eventually([&] { return !server.send(connection); });
  return connection;
}

TEST_CASE("an end is told when all that came over the connection has been read, and not before") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    const auto connection = leave_unread(context, server, 7);
    for (int i = 0; i < kLeftUnread; ++i) {
      CHECK(server.standing().take_ended().empty());
      CHECK(server.read() == std::to_string(i));
      CHECK_FALSE(server.send(connection));
    }
    CHECK(server.standing().take_ended().empty());
    CHECK_FALSE(server.read());
    CHECK(server.standing().take_ended() == std::vector{Ended{7, connection}});
    CHECK(server.standing().size() == 0);
  }
}

TEST_CASE("an end is told beside one that never stops, and not before all that came has been read") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    auto talker = connected(context, server, 8);
    CHECK(server.read_next() == "hello");
    const auto connection = leave_unread(context, server, 7);
    for (int i = 0; i < 100; ++i) {
      REQUIRE(talker->send("", bytes_of("talk")));
    }
    int unread = kLeftUnread;
    std::vector<Ended> ended;
    int heard = 0;
    for (; ended.empty() && heard < 5000; ++heard) {
      REQUIRE(talker->send("", bytes_of("talk")));
      unread -= server.read_waiting() == "talk" ? 0 : 1;
      ended = server.standing().take_ended();
    }
    CHECK(unread == 0);
    CHECK(ended == std::vector{Ended{7, connection}});
    CHECK(heard < 1000);
  }
}

TEST_CASE("the end of a connection is found that nobody sends to, because the session has another one") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    auto older = connected(context, server, 7);
    CHECK(server.read_next() == "hello");
    const auto first = server.last_of(7);
    auto newer = connected(context, server, 7, 1, 4711);
    CHECK(server.read_next() == "hello");
    const auto second = server.last_of(7);
    CHECK(second > first);
    CHECK(server.ended_after(200).empty());
    CHECK_FALSE(older->receive());  // nobody is probed of whom it is known that he is there
    older->close();
    CHECK(server.next_end() == Ended{7, first});
    CHECK(server.ended_after(200).empty());
    CHECK(hears_answer(server, *newer, 7));
  }
}

TEST_CASE("of two connections with one number the one that is heard later is the later one") {
  Addresses addresses;
  ServerOfSessions server(addresses.make("ipc"));
  zmq::context_t context;
  std::vector<std::unique_ptr<Dealer>> dealers;
  ConnectionId last = 0;
  for (const std::uint64_t secret : {9, 5, 7}) {
    dealers.push_back(connected(context, server, 7, 1, secret));
    CHECK(server.read_next() == "hello");
    CHECK(server.last_of(7) > last);
    last = server.last_of(7);
  }
  dealers.push_back(connected(context, server, 7));
  CHECK(server.read_next() == "hello");
  CHECK(server.last_of(7) < last);  // a first connection that is heard late
  CHECK(server.standing().size() == 4);
}

// One that never stops: the socket is never found empty beside it.
class Talker {
 public:
  Talker(zmq::context_t& context, ServerOfSessions& server, SessionId session)
      : server_(server), dealer_(connected(context, server, session)) {
    CHECK(server.read_next() == "hello");
    for (int i = 0; i < 100; ++i) {
      talk();
    }
  }
  // As many turns of the server as it takes until something holds, in each of which one message is read.
  template <typename Holds>
  void talk_until(Holds holds) {
    eventually([&] {
      for (int i = 0; i < 50; ++i) {
        talk();
        server_.read_waiting();
        server_.tick();
        if (holds()) {
          return true;
        }
      }
      return false;
    });
  }
  Dealer& dealer() { return *dealer_; }

 private:
  void talk() { REQUIRE(dealer_->send("", bytes_of("talk"))); }

  ServerOfSessions& server_;
  std::unique_ptr<Dealer> dealer_;
};

TEST_CASE("a peer that is dropped begins another connection, and the end of the one before is told") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    auto dealer = connected(context, server, 7);
    auto other = connected(context, server, 8);
    server.read_next();
    server.read_next();
    const auto dropped = server.last_of(7);
    server.standing().drop(dropped, monotonic_micros());
    CHECK(server.next_end() == Ended{7, dropped});
    eventually([&] {
      dealer->tick(monotonic_micros());
      return dealer->connections() > 0 && dealer->send("", bytes_of("again"));
    });
    eventually([&] {
      dealer->tick(monotonic_micros());
      dealer->send("", bytes_of("again"));
      while (server.read()) {
      }
      return server.last_of(7) > dropped;
    });
    CHECK(server.ended_after(100).empty());
    CHECK(other->connections() == 0);
    CHECK(hears_answer(server, *other, 8));
    server.standing().drop(dropped, monotonic_micros());  // has ended: nothing
    CHECK(server.ended_after(100).empty());
  }
}

TEST_CASE("beside one that never stops a peer that is dropped begins another connection as well") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    auto dealer = connected(context, server, 7);
    CHECK(server.read_next() == "hello");
    const auto dropped = server.last_of(7);
    Talker talker(context, server, 8);
    server.standing().drop(dropped, monotonic_micros());
    std::vector<Ended> ended;
    talker.talk_until([&] {
      const auto more = server.standing().take_ended();
      ended.insert(ended.end(), more.begin(), more.end());
      dealer->tick(monotonic_micros());
      if (dealer->connections() > 0) {
        dealer->send("", bytes_of("again"));
      }
      return !ended.empty() && server.last_of(7) > dropped;
    });
    CHECK(ended == std::vector{Ended{7, dropped}});
    CHECK(dealer->connections() == 1);
    talker.dealer().tick(monotonic_micros());
    CHECK(talker.dealer().connections() == 0);
    CHECK(hears_answer(server, *dealer, 7));
  }
}

TEST_CASE("a socket whose descriptor is another's now is not shut down") {
  std::array<int, 2> first{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, first.data()) == 0);
  std::uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  REQUIRE(::getsockopt(first[0], SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0);
  std::array<int, 2> second{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, second.data()) == 0);
  REQUIRE(::dup2(second[0], first[0]) == first[0]);
  CHECK_FALSE(shut_down({first[0], cookie}));
  REQUIRE(::send(second[1], "x", 1, MSG_NOSIGNAL) == 1);
  char taken = 0;
  CHECK(::recv(first[0], &taken, 1, MSG_DONTWAIT) == 1);
  ::close(first[0]);
  CHECK_FALSE(shut_down({first[0], cookie}));
  for (const int descriptor : {first[1], second[0], second[1]}) {
    ::close(descriptor);
  }
}

// Whether the descriptor has been closed.
bool is_closed(int descriptor) { return ::fcntl(descriptor, F_GETFD) < 0; }

TEST_CASE("who has the descriptor of one that is dropped is not cut") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    zmq::context_t others;
    bool was_used_again = false;
    for (SessionId session = 1; session < 50 && !was_used_again; ++session) {
      auto gone = connected(context, server, session);
      server.read_next();
      const int descriptor = server.descriptor();
      gone->close();
      eventually([&] { return is_closed(descriptor); });
      auto heir = connected(others, server, session + 1000);
      eventually([&] { return (server.router().raw().get(zmq::sockopt::events) & ZMQ_POLLIN) != 0; });
      server.standing().drop(server.last_of(session), monotonic_micros());
      server.read_next();
      was_used_again = server.descriptor() == descriptor;
      CHECK(server.next_end().session == session);
      CHECK(server.ended_after(50).empty());
      CHECK(hears_answer(server, *heir, session + 1000));
      heir->close();
      CHECK(server.next_end().session == session + 1000);
    }
    CHECK(was_used_again);
  }
}

TEST_CASE("one whose first message is read when another has its descriptor is not taken for that one") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    ServerOfSessions server(addresses.make(transport));
    zmq::context_t context;
    zmq::context_t others;
    bool was_used_again = false;
    for (SessionId session = 1; session < 50 && !was_used_again; ++session) {
      auto gone = connected(context, server, session);
      eventually([&] { return (server.router().raw().get(zmq::sockopt::events) & ZMQ_POLLIN) != 0; });
      gone->close();
      ::usleep(20'000);
      auto heir = connected(others, server, session + 1000);
      ::usleep(20'000);
      std::map<SessionId, int> descriptors;
      for (int i = 0; i < 2; ++i) {
        server.read_waiting();
        descriptors[server.last_of(session + 1000) == 0 ? session : session + 1000] = server.descriptor();
      }
      was_used_again = descriptors.size() == 2 && descriptors[session] == descriptors[session + 1000];
      server.standing().drop(server.last_of(session), monotonic_micros());
      CHECK(server.next_end().session == session);
      CHECK(server.ended_after(50).empty());
      CHECK(hears_answer(server, *heir, session + 1000));
      heir->close();
      CHECK(server.next_end().session == session + 1000);
    }
    CHECK(was_used_again);
  }
}

TEST_CASE("a name that is used again is another connection's") {
  Addresses addresses;
  ServerOfSessions server(addresses.make("tcp"));
  zmq::context_t context;
  auto first = connected(context, server, 7);
  server.read_next();
  const auto before = server.last_of(7);
  first->close();
  eventually([&] { return !server.send(before, "nobody gets this") || is_closed(server.descriptor()); });
  server.read();
  auto second = connected(context, server, 7);
  eventually([&] {
    second->tick(monotonic_micros());
    second->send("", bytes_of("hello"));
    server.tick();
    server.read();
    return server.last_of(7) > before;
  });
  CHECK(server.send(server.last_of(7)));
}

// Its name is another's before anybody looks whether it has ended; that one's first message is read.
ConnectionId take_name_at_once(zmq::context_t& context, ServerOfSessions& server, std::unique_ptr<Dealer>& heir) {
  auto gone = connected(context, server, 7);
  server.read_next();
  const auto connection = server.last_of(7);
  const int descriptor = server.descriptor();
  gone->close();
  eventually([&] {
    server.read();  // so that its name is free
    return is_closed(descriptor);
  });
  ::usleep(20'000);
  server.read();
  heir = connected(context, server, 7);
  server.read_next();
  return connection;
}

TEST_CASE("who has taken the name of one that is dropped ends with it, and nobody else") {
  for (const bool speaks : {false, true}) {
    CAPTURE(speaks);
    Addresses addresses;
    ServerOfSessions server(addresses.make("tcp"));
    zmq::context_t context;
    auto other = connected(context, server, 8);
    server.read_next();
    std::unique_ptr<Dealer> heir;
    const auto connection = take_name_at_once(context, server, heir);
    REQUIRE(server.last_of(7) == connection);
    if (speaks) {  // when it is known whose name it has, and what that one was sent may be its own
      CHECK(server.ended_after(50).empty());
      REQUIRE(heir->send("", bytes_of("again")));
      CHECK(server.read_next() == "again");
      CHECK(server.last_of(7) > connection);
      CHECK(server.next_end() == Ended{7, connection});
    }
    server.standing().drop(connection, monotonic_micros());
    CHECK(server.next_end() == Ended{7, server.last_of(7)});
    eventually([&] {
      heir->tick(monotonic_micros());
      return heir->connections() > 0;
    });
    CHECK(server.ended_after(50).empty());
    CHECK(other->connections() == 0);
    CHECK(hears_answer(server, *other, 8));
  }
}

// Who is probed is there: if nobody has the name any more, another one takes it, and says nothing.
void probe_heirs(zmq::context_t& context, ServerOfSessions& server, Micros now, std::unique_ptr<Dealer>& heir) {
  for (const auto& probe : server.standing().probes(now)) {
    eventually([&] {
      CHECK_FALSE(server.read());  // so that a name is free whose connection has ended
      const bool is_there = server.router().send(probe.routing_id, bytes_of("probe"));
      if (!is_there && heir == nullptr) {
        heir = std::make_unique<Dealer>(context, probe.routing_id, SocketOptions{.linger_ms = 0});
        heir->connect(server.address());
      }
      return is_there && heir != nullptr;
    });
  }
}

TEST_CASE("one that is dropped, and whose name others take again and again, ends only with the socket") {
  constexpr auto kPatience = StandingConnections::kDropPatience;
  Addresses addresses;
  ServerOfSessions server(addresses.make("tcp"));
  zmq::context_t context;
  auto other = connected(context, server, 8);
  server.read_next();
  std::unique_ptr<Dealer> heir;
  const auto connection = take_name_at_once(context, server, heir);
  REQUIRE(server.last_of(7) == connection);
  const auto began = monotonic_micros();
  server.standing().drop(connection, began);
  // By the clock that it is told.
  for (Micros passed = 0; passed <= 3 * kPatience; passed += kPatience / 10) {
    CAPTURE(passed);
    CHECK(server.standing().drop_again(began + passed) == (passed >= 2 * kPatience));
    if (passed == kPatience) {  // all whom it may be are ended
      eventually([&] {
        heir->tick(monotonic_micros());
        return heir->connections() > 0;
      });
      heir.reset();
    }
    probe_heirs(context, server, began + passed, heir);
    CHECK(server.standing().take_ended().empty());
  }
  CHECK(heir != nullptr);  // another one
  other->tick(monotonic_micros());
  CHECK(other->connections() == 0);
  CHECK(hears_answer(server, *other, 8));
}

TEST_CASE("one that is dropped, and of which it was never known which it is, ends without the others") {
  Addresses addresses;
  ServerOfSessions server(addresses.make("tcp"));
  zmq::context_t context;
  zmq::context_t others;
  auto other = connected(context, server, 5000);
  server.read_next();
  bool was_used_again = false;
  for (SessionId session = 1; session < 50 && !was_used_again; ++session) {
    auto gone = connected(context, server, session);
    server.read_next();
    const int descriptor = server.descriptor();
    gone->close();
    eventually([&] { return is_closed(descriptor); });
    auto heir = connected(others, server, session + 1000);
    server.read_waiting();  // the socket is never found empty: it may have been said by the one before
    was_used_again = server.descriptor() == descriptor;
    server.standing().drop(server.last_of(session + 1000), monotonic_micros());
    std::vector<Ended> ended;
    eventually([&] {
      const auto more = server.ended_after(10);
      ended.insert(ended.end(), more.begin(), more.end());
      return ended.size() == 2;
    });
    CHECK(std::ranges::count(ended, session + 1000, &Ended::session) == 1);
  }
  CHECK(was_used_again);
  CHECK(other->connections() == 0);
  CHECK(hears_answer(server, *other, 5000));
}

TEST_CASE("the listening descriptor is never one of a connection's") {
  Addresses addresses;
  ServerOfSessions server(addresses.make("tcp"));
  ReadRounds rounds(1);
  ConnectionDescriptors descriptors(server.router(), rounds);
  CHECK_FALSE(descriptors.of_message(*server.router().callers().listening()));
  CHECK_FALSE(descriptors.of_message(-1));
}

}  // namespace
}  // namespace ballast
