// Any start order, restarts on either side, addresses in use.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/net/peer.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

std::string refusal_of(Router& router, const std::string& address) {
  try {
    router.bind(address);
  } catch (const std::runtime_error& failure) {
    return failure.what();
  }
  return {};
}

TEST_CASE("the system's buffers are the kernel's to tune, unless a size is given") {
  zmq::context_t context;
  Router tuned(context);
  CHECK(tuned.raw().get(zmq::sockopt::sndbuf) == -1);
  CHECK(tuned.raw().get(zmq::sockopt::rcvbuf) == -1);
  Dealer given(context, "w12345678", {.buffer_bytes = 65536});
  CHECK(given.raw().get(zmq::sockopt::sndbuf) == 65536);
  CHECK(given.raw().get(zmq::sockopt::rcvbuf) == 65536);
}

// As a loop does: says again what has no answer, and lets the socket look after its connection.
Received hear_again_and_again(Router& router, Dealer& dealer, const std::string& text) {
  return std::move(*eventually([&] {
    dealer.tick(monotonic_micros());
    dealer.send("", bytes_of(text));
    ::usleep(5000);
    auto received = router.receive();
    while (received && text_of(received->header) != text) {
      received = router.receive();
    }
    return received;
  }));
}

TEST_CASE("a worker may start before its server, whatever the transport") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t context;
    std::string address = addresses.make(transport);
    if (transport == "tcp") {  // a port that is free now
      Router finder(context);
      address = finder.bind(address);
    }
    Dealer dealer(context, session_routing_id(1));
    dealer.connect(address);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < until) {
      dealer.tick(monotonic_micros());
      ::usleep(5000);
    }
    CHECK(dealer.connections() > 0);  // it has tried
    Router router(context);
    eventually([&] {
      try {
        return !router.bind(address).empty();
      } catch (const std::runtime_error&) {
        return false;
      }
    });
    const auto heard = hear_again_and_again(router, dealer, "hello");
    const auto from = parse_routing_id(heard.peer);
    REQUIRE(from);
    CHECK(from->first == session_routing_id(1));
    CHECK(from->connection == dealer.connections());
  }
}

TEST_CASE("a socket that is closed while its connection makes news stops no other one") {
  constexpr int kSockets = 300;
  Addresses addresses;
  zmq::context_t context;
  const auto nobody = addresses.make("ipc");
  std::vector<std::unique_ptr<Dealer>> trying;
  for (int i = 0; i < kSockets; ++i) {
    auto& dealer = trying.emplace_back(std::make_unique<Dealer>(context, "w" + std::to_string(i)));
    dealer->connect(nobody);  // news every 20 ms: tried again
  }
  ::usleep(30'000);
  for (auto& dealer : trying) {
    dealer->close();
  }
  Router router(context);
  Dealer other(context, "other");
  other.connect(router.bind(addresses.make("tcp")));
  REQUIRE(other.send("", bytes_of("hello")));
  CHECK(receive_from(router).peer == "other");
}

TEST_CASE("after its server's restart a worker is heard and answered again by itself, by another name") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t worker_context;
    Dealer dealer(worker_context, session_routing_id(1));
    auto address = addresses.make(transport);
    std::string name;
    for (int life = 0; life < 3; ++life) {
      CAPTURE(life);
      zmq::context_t context;
      Router router(context);
      address = eventually([&] {
                  try {
                    return std::optional(router.bind(address));
                  } catch (const std::runtime_error&) {  // the system may not have let go of the port yet
                    return std::optional<std::string>();
                  }
                }).value();
      if (life == 0) {
        dealer.connect(address);
      }
      const auto heard = hear_again_and_again(router, dealer, "life " + std::to_string(life));
      CHECK(heard.peer != name);
      name = heard.peer;
      REQUIRE(router.send(name, bytes_of("answer " + std::to_string(life))));
      eventually([&] {
        const auto answer = dealer.receive();
        return answer && text_of(answer->header) == "answer " + std::to_string(life);
      });
      CHECK(dealer.is_connected() == (dealer.tick(monotonic_micros()), true));
    }
  }
}

TEST_CASE("a connection that takes no more is over: another one begins at once, and is heard") {
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    zmq::context_t context;
    Router router(context, {.unread = 1});
    zmq::context_t others;
    Dealer dealer(others, session_routing_id(1), {.linger_ms = 0, .buffer_bytes = 65536, .unsent = 4});
    dealer.connect(router.bind(addresses.make(transport)));
    eventually([&] {
      dealer.tick(monotonic_micros());
      return dealer.is_connected();
    });
    const std::string text(64 << 10, 'x');
    bool is_taken = true;
    for (int i = 0; i < 10'000 && is_taken; ++i) {  // until it has as much as it and the system take
      is_taken = dealer.send("", bytes_of(text));
      ::usleep(is_taken ? 1000 : 0);
    }
    REQUIRE_FALSE(is_taken);
    CHECK(dealer.connections() == 0);
    dealer.tick(monotonic_micros());
    CHECK(dealer.connections() == 1);
    const auto heard = hear_again_and_again(router, dealer, "hello");
    CHECK(parse_routing_id(heard.peer)->connection >= 1);
  }
}

// Nothing is read until the old one has let go of all that it had: what is read then is what had left it.
TEST_CASE("what waits for a connection that is begun anew is delivered by nobody later") {
  constexpr int kSent = 30;
  constexpr int kLingers = 45'000;  // for longer than anything is waited for here
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    zmq::context_t context;
    Router router(context, {.buffer_bytes = 65536, .unread = 1});
    const auto address = router.bind(addresses.make(transport));
    ReleaseQueue releases;
    zmq::context_t others;
    Dealer dealer(others, session_routing_id(1), {.linger_ms = kLingers, .buffer_bytes = 65536});
    dealer.connect(address);
    const std::vector<std::byte> payload(256 << 10);
    for (std::uint64_t i = 0; i < kSent; ++i) {
      REQUIRE(dealer.send("", bytes_of("old"), {payload.data(), payload.size(), {i, 0, nullptr, 0}, &releases}));
    }
    eventually([&] { return (router.raw().get(zmq::sockopt::events) & ZMQ_POLLIN) != 0; });
    dealer.connect(address);
    CHECK(dealer.connections() == 1);
    wait_for_releases(releases, kSent);
    int late = 0;
    bool is_heard = false;
    // Until the new one is heard, and the old one's end is seen.
    eventually([&] {
      dealer.tick(monotonic_micros());
      dealer.send("", bytes_of("new"));
      while (const auto received = router.receive()) {
        const bool is_new = text_of(received->header) == "new";
        is_heard = is_heard || is_new;
        late += is_new ? 0 : 1;
      }
      router.callers().refusals();
      return is_heard && router.callers().connections().size() == 1;
    });
    CHECK(late < kSent / 2);
    dealer.raw().set(zmq::sockopt::linger, 0);
    dealer.close();
    others.close();
  }
}

TEST_CASE("a connection that ends when no descriptor is left is begun anew when there are some again") {
  Addresses addresses;
  const auto address = addresses.make("ipc");
  zmq::context_t context;
  Dealer dealer(context, session_routing_id(1));
  dealer.connect(address);  // nobody is there: it is begun anew again and again
  std::vector<int> taken;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < until) {
    for (int descriptor = ::dup(0); descriptor >= 0; descriptor = ::dup(0)) {
      taken.push_back(descriptor);  // also what the dealer's earlier sockets have let go of
    }
    dealer.tick(monotonic_micros());
    ::usleep(5000);
  }
  for (const int descriptor : taken) {
    ::close(descriptor);
  }
  zmq::context_t others;
  Router router(others);
  router.bind(address);
  CHECK(hear_again_and_again(router, dealer, "hello").peer.starts_with(session_routing_id(1)));
}

TEST_CASE("a name is kept for a peer that knows no other") {
  Addresses addresses;
  zmq::context_t worker_context;
  Dealer dealer(worker_context, session_routing_id(1));
  dealer.keep_name(true);
  auto address = addresses.make("ipc");
  for (int life = 0; life < 2; ++life) {
    zmq::context_t context;
    Router router(context);
    router.bind(address);
    if (life == 0) {
      dealer.connect(address);
    }
    CHECK(hear_again_and_again(router, dealer, "life " + std::to_string(life)).peer == session_routing_id(1));
  }
  CHECK(dealer.connections() > 0);
}

TEST_CASE("who names himself as another who is connected takes nothing from him") {
  for (const auto* transport : kTransports) {
    Addresses addresses;
    zmq::context_t context;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    zmq::context_t others;
    Dealer first(others, "w");
    first.connect(address);
    REQUIRE(first.send("", bytes_of("first")));
    CHECK(text_of(receive_from(router).header) == "first");
    {
      Dealer second(others, "w", {0});
      second.connect(address);
      second.send("", bytes_of("second"));
      ::usleep(300'000);
      CHECK_FALSE(router.receive());
      REQUIRE(router.send("w", bytes_of("for the first")));
      CHECK(text_of(receive_from(first).header) == "for the first");
      CHECK_FALSE(second.receive());
    }
    REQUIRE(first.send("", bytes_of("again")));
    CHECK(text_of(receive_from(router).header) == "again");
  }
}

TEST_CASE("who is connected is known, and known no more when it has gone") {
  for (const std::string transport : kTransports) {
    Addresses addresses;
    zmq::context_t context;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    zmq::context_t others;
    Dealer dealer(others, "w", {0});
    dealer.connect(address);
    REQUIRE(dealer.send("", bytes_of("hello")));
    receive_from(router);
    CHECK(router.callers().refusals().told.empty());
    REQUIRE(router.callers().connections().size() == 1);
    CHECK(router.callers().connections().begin()->second.find(transport == "tcp" ? "127.0.0.1:" : "this machine") == 0);
    dealer.close();
    eventually([&] {
      router.callers().refusals();
      return router.callers().connections().empty();
    });
  }
}

// A refusal and the end of its connection come as two events: whoever asks in between must not take one for two, or
// less than none.
TEST_CASE("each refused handshake is counted once, whenever that is asked for") {
  constexpr std::uint64_t kRefused = 100;
  constexpr int kAtOnce = 10'000;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    Addresses addresses;
    zmq::context_t context;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    zmq::context_t others;
    std::uint64_t counted = 0;
    std::uint64_t most = 0;
    const auto ask = [&] {
      const auto refusals = router.callers().refusals();
      counted += refusals.told.size();
      for (const auto more : refusals.more) {
        most = std::max(most, more);
        counted += more;
      }
    };
    for (std::uint64_t i = 1; i <= kRefused; ++i) {
      zmq::socket_t stranger(others, zmq::socket_type::dealer);
      stranger.set(zmq::sockopt::linger, 0);
      stranger.set(zmq::sockopt::plain_username, "who");  // a mechanism that the router has not
      stranger.set(zmq::sockopt::reconnect_ivl, -1);      // it tries once
      stranger.connect(address);
      eventually([&] {
        for (int n = 0; n < kAtOnce; ++n) {
          ask();
        }
        return counted >= i && router.callers().connections().empty();
      });
      CHECK(counted == i);
    }
    CHECK(most <= kRefused);
  }
}

TEST_CASE("for a peer that doesn't read no more waits than is allowed, and others are sent to as ever") {
  for (const auto* transport : kTransports) {
    Addresses addresses;
    zmq::context_t context;
    Router router(context, {.unsent = 16});
    const auto address = router.bind(addresses.make(transport));
    zmq::context_t others;
    Dealer deaf(others, "deaf", {0});
    deaf.raw().set(zmq::sockopt::rcvhwm, 1);
    deaf.connect(address);
    Dealer other(others, "other");
    other.connect(address);
    for (auto* dealer : {&deaf, &other}) {
      REQUIRE(dealer->send("", bytes_of("hello")));
      receive_from(router);
    }
    const std::string text(64 << 10, 'x');
    eventually([&] { return !router.send("deaf", bytes_of(text)); });
    CHECK_FALSE(router.is_unreachable());  // it is there, and takes no more
    CHECK_FALSE(router.send("nobody", bytes_of(text)));
    CHECK(router.is_unreachable());
    CHECK_FALSE(router.send("deaf", bytes_of(text)));
    CHECK_FALSE(router.is_unreachable());
    REQUIRE(router.send("other", bytes_of("for you")));
    CHECK(text_of(receive_from(other).header) == "for you");
  }
}

TEST_CASE("a free port is told; an address in use is refused and its owner not disturbed") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t context;
    Router owner(context);
    const auto address = owner.bind(addresses.make(transport));
    CHECK(address.find('*') == std::string::npos);
    zmq::context_t other_context;
    Router other(other_context);
    CHECK(refusal_of(other, address).find("cannot bind " + address + ": ") == 0);
    Dealer dealer(context, "w");
    dealer.connect(address);
    REQUIRE(dealer.send("", bytes_of("hello")));
    CHECK(text_of(receive_from(owner).header) == "hello");
  }
}

TEST_CASE("a socket file that a dead process left behind is no hindrance") {
  Addresses addresses;
  const auto path = addresses.path("stale");
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  std::memcpy(target.sun_path, path.data(), path.size());
  REQUIRE(::bind(dead, reinterpret_cast<const sockaddr*>(&target), sizeof(target)) == 0);
  ::close(dead);
  REQUIRE(std::filesystem::exists(path));
  zmq::context_t context;
  Router router(context);
  CHECK(router.bind("ipc://" + path) == "ipc://" + path);
}

TEST_CASE("addresses that cannot be are refused with the address and why") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  const auto long_path = "ipc://" + addresses.path(std::string(120, 'p'));
  CHECK(refusal_of(router, long_path).find("a unix socket's may have 107: choose a shorter folder") !=
        std::string::npos);
  for (const char* address : {"", "tcp", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "tcp://192.0.2.1:*",
                              "http://127.0.0.1:1", "ipc:///no/such/folder/at/all"}) {
    CAPTURE(address);
    const auto refusal = refusal_of(router, address);
    CAPTURE(refusal);
    CHECK(refusal.starts_with("cannot bind"));
    CHECK(refusal.find(address) != std::string::npos);
  }
  CHECK(refusal_of(router, "tcp://no-such-interface:1").find("listen on a number or an interface of this machine") !=
        std::string::npos);
  Dealer dealer(context, "w");
  CHECK_THROWS_AS(dealer.connect("tcp//127.0.0.1:1"), std::runtime_error);
}

}  // namespace
}  // namespace ballast
