// Peers that do not keep to the form: told as malformed or cut, and nobody else notices.
#include "common/net/peer.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

// A DEALER that sends whatever frames it likes.
class RawDealer {
 public:
  RawDealer(zmq::context_t& context, const std::string& id, const std::string& address)
      : socket_(context, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndbuf, 1 << 16);
    socket_.set(zmq::sockopt::routing_id, id);
    socket_.connect(address);
  }
  void send(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto flags = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      REQUIRE(socket_.send(zmq::buffer(frames[i]), flags));
    }
  }

  // A message of one frame, again and again, until the transport takes no more for a second, or has taken `most`: how
  // many it has taken.
  std::size_t send_until_full(std::size_t most) {
    std::size_t sent = 0;
    for (int refused = 0; sent < most && refused < 1000;) {
      if (socket_.send(zmq::buffer(std::string_view("x")), zmq::send_flags::dontwait)) {
        ++sent;
        refused = 0;
      } else {
        ++refused;
        ::usleep(1000);
      }
    }
    return sent;
  }

 private:
  zmq::socket_t socket_;
};

TEST_CASE("a wrong number of frames is told as malformed, whole, and the next message is read as it is") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  RawDealer raw(context, "raw", router.bind(addresses.make("tcp")));
  for (const std::size_t frames : {3U, 4U, 5U, 6U, 300U}) {
    CAPTURE(frames);
    raw.send(std::vector<std::string>(frames, "x"));
    raw.send({"good", "payload"});
    const auto bad = receive_from(router);
    CHECK(bad.malformed);
    CHECK(bad.peer == "raw");
    CHECK_FALSE(bad.payload);
    const auto good = receive_from(router);
    CHECK_FALSE(good.malformed);
    CHECK(text_of(good.header) == "good");
    CHECK(text_of(*good.payload) == "payload");
  }
  CHECK_FALSE(router.receive());
}

// All its parts are there before the first can be read: reading them in one go would keep the loop from its work.
TEST_CASE("a message of very many parts is told at once, and its rest read and dropped a piece at a time") {
  constexpr std::size_t kPieces = 25;
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  RawDealer raw(context, "raw", router.bind(addresses.make("tcp")));
  raw.send(std::vector<std::string>(kPieces * kPartsAtOnce, "x"));
  raw.send({"good"});
  const auto bad = receive_from(router);
  CHECK(bad.malformed);
  CHECK(bad.peer == "raw");
  std::size_t pieces = 1;  // after which more was to come
  const auto good = eventually([&] {
    auto next = router.receive();
    pieces += router.raw().get(zmq::sockopt::rcvmore) != 0 ? 1 : 0;
    return next;
  });
  CHECK(text_of(good->header) == "good");
  CHECK(pieces == kPieces - 1);
  CHECK_FALSE(router.receive());
}

TEST_CASE("of messages that nobody reads a router takes in so many of a peer; none is lost, and others are heard") {
  constexpr std::size_t kMost = 1'000'000;
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t context;
    zmq::context_t others;
    Router router(context, {.buffer_bytes = 1 << 16});
    const auto address = router.bind(addresses.make(transport));
    RawDealer raw(others, "raw", address);
    const auto sent = raw.send_until_full(kMost);
    CHECK(sent < kMost);
    Dealer good(others, "good");
    good.connect(address);
    REQUIRE(good.send("", bytes_of("hello")));
    std::size_t read = 0;
    bool heard = false;
    eventually([&] {
      while (const auto received = router.receive()) {
        heard = heard || received->peer == "good";
        read += received->peer == "raw" ? 1 : 0;
      }
      return heard && read >= sent;
    });
    CHECK(read == sent);
  }
}

TEST_CASE("a dealer is as careful with its server") {
  Addresses addresses;
  zmq::context_t context;
  zmq::socket_t server(context, zmq::socket_type::router);
  server.set(zmq::sockopt::linger, 0);
  server.bind("tcp://127.0.0.1:*");
  Dealer dealer(context, "w");
  dealer.connect(server.get(zmq::sockopt::last_endpoint));
  REQUIRE(dealer.send("", bytes_of("hello")));
  zmq::message_t frame;
  REQUIRE(server.recv(frame));
  REQUIRE(server.recv(frame));
  const std::vector<std::string> bad = {"w", "header", "payload", "more"};
  for (std::size_t i = 0; i < bad.size(); ++i) {
    REQUIRE(server.send(zmq::buffer(bad[i]), i + 1 < bad.size() ? zmq::send_flags::sndmore : zmq::send_flags::none));
  }
  CHECK(receive_from(dealer).malformed);
}

TEST_CASE("empty frames are frames") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  RawDealer raw(context, "raw", router.bind(addresses.make("tcp")));
  raw.send({"", ""});
  const auto received = receive_from(router);
  CHECK_FALSE(received.malformed);
  CHECK(received.header.size() == 0);
  REQUIRE(received.payload);
  CHECK(received.payload->size() == 0);
}

TEST_CASE("a frame beyond the limit cuts its sender; others go on") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t context;
    zmq::context_t others;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    Dealer good(others, "good");
    good.connect(address);
    REQUIRE(good.send("", bytes_of("one")));
    CHECK(receive_from(router).peer == "good");
    {
      RawDealer raw(others, "raw", address);
      raw.send({"header"});
      CHECK(receive_from(router).peer == "raw");
      raw.send({"header", std::string(static_cast<std::size_t>(kMaxRouterFrameBytes) + 1, 'x')});
      eventually([&] { return !router.send("raw", bytes_of("still there?")); });
    }
    REQUIRE(good.send("", bytes_of("two")));
    const auto next = receive_from(router);
    CHECK(next.peer == "good");
    CHECK(text_of(next.header) == "two");
  }
}

TEST_CASE("what is no ZeroMQ peer at all does no harm") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  const auto address = router.bind(addresses.make("tcp"));
  zmq::socket_t stranger(context, zmq::socket_type::stream);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.connect(address);
  zmq::message_t id;
  REQUIRE(stranger.recv(id));
  zmq::message_t nothing;
  REQUIRE(stranger.recv(nothing));
  zmq::message_t to(id.data(), id.size());
  REQUIRE(stranger.send(to, zmq::send_flags::sndmore));
  REQUIRE(stranger.send(zmq::buffer(std::string(10'000, '\xEE')), zmq::send_flags::none));
  Dealer good(context, "good");
  good.connect(address);
  REQUIRE(good.send("", bytes_of("hello")));
  // ZeroMQ may take garbage for its first protocol's framing; such a peer's name is none of ours.
  eventually([&] {
    const auto received = router.receive();
    if (received && received->peer != "good") {
      CHECK_FALSE(parse_routing_id(received->peer));
    }
    return received && received->peer == "good" && !received->malformed;
  });
}

}  // namespace
}  // namespace ballast
