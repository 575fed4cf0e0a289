// Header and payload frames both ways, over each transport.
#include <numeric>

#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

TEST_CASE("a header travels alone and with a payload, both ways, and the routing id says who") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t context;
    ReleaseQueue releases;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    Dealer dealer(context, "w-one");
    dealer.connect(address);

    REQUIRE(dealer.send("", bytes_of("hello")));
    const auto hello = receive_from(router);
    CHECK(hello.peer == "w-one");
    CHECK(text_of(hello.header) == "hello");
    CHECK_FALSE(hello.payload);
    CHECK_FALSE(hello.malformed);

    const std::string up = "gradient";
    REQUIRE(dealer.send("", bytes_of("push"), {up.data(), up.size(), {1, 2, nullptr, up.size()}, &releases}));
    const auto push = receive_from(router);
    CHECK(text_of(push.header) == "push");
    REQUIRE(push.payload);
    CHECK(text_of(*push.payload) == up);

    const std::string down = "weights";
    REQUIRE(router.send("w-one", bytes_of("reply"), {down.data(), down.size(), {}, &releases}));
    const auto reply = receive_from(dealer);
    CHECK(reply.peer.empty());
    CHECK(text_of(reply.header) == "reply");
    REQUIRE(reply.payload);
    CHECK(text_of(*reply.payload) == down);
    CHECK(wait_for_releases(releases, 2).size() == 2);
  }
}

TEST_CASE("empty and large payloads arrive as they were; a received payload may be written and moved") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{8191}, std::size_t{8192},
                                   std::size_t{1} << 20U, static_cast<std::size_t>(kMaxRouterFrameBytes)}) {
      CAPTURE(transport);
      CAPTURE(size);
      zmq::context_t context;
      ReleaseQueue releases;
      Router router(context);
      Dealer dealer(context, "w");
      dealer.connect(router.bind(addresses.make(transport)));
      std::string sent(size, '\0');
      for (std::size_t at = 0; at < size; ++at) {
        sent[at] = static_cast<char>(at * 2654435761U >> 13U);
      }
      REQUIRE(dealer.send("", bytes_of("h"), {sent.data(), sent.size(), {}, &releases}));
      auto received = receive_from(router);
      REQUIRE(received.payload);
      auto moved = std::move(*received.payload);
      CHECK(text_of(moved) == sent);
      std::memset(moved.data(), 'x', moved.size());
      CHECK(text_of(moved) == std::string(size, 'x'));
    }
  }
}

TEST_CASE("several peers are told apart, and each is answered alone") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  const auto address = router.bind(addresses.make("tcp"));
  std::vector<std::unique_ptr<Dealer>> dealers;
  for (int i = 0; i < 5; ++i) {
    dealers.push_back(std::make_unique<Dealer>(context, "w" + std::to_string(i)));
    dealers.back()->connect(address);
    REQUIRE(dealers.back()->send("", bytes_of("from " + std::to_string(i))));
  }
  for (int i = 0; i < 5; ++i) {
    const auto received = receive_from(router);
    CHECK(text_of(received.header) == "from " + received.peer.substr(1));
    REQUIRE(router.send(received.peer, bytes_of("to " + received.peer)));
  }
  for (int i = 0; i < 5; ++i) {
    CHECK(text_of(receive_from(*dealers[static_cast<std::size_t>(i)]).header) == "to w" + std::to_string(i));
    CHECK_FALSE(dealers[static_cast<std::size_t>(i)]->receive());
  }
}

TEST_CASE("messages of one peer keep their order") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  Dealer dealer(context, "w");
  dealer.connect(router.bind(addresses.make("ipc")));
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(dealer.send("", bytes_of(std::to_string(i))));
  }
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(text_of(receive_from(router).header) == std::to_string(i));
  }
}

TEST_CASE("a peer nobody knows is a failed send, and the socket goes on") {
  Addresses addresses;
  zmq::context_t context;
  Router router(context);
  Dealer dealer(context, "w");
  dealer.connect(router.bind(addresses.make("tcp")));
  for (const std::string& peer : {std::string(), std::string("nobody"), std::string(300, 'x')}) {
    CHECK_FALSE(router.send(peer, bytes_of("h")));
  }
  REQUIRE(dealer.send("", bytes_of("hello")));
  CHECK(text_of(receive_from(router).header) == "hello");
  CHECK_FALSE(router.send("nobody", bytes_of("h")));
  CHECK(router.send("w", bytes_of("h")));
  CHECK(text_of(receive_from(dealer).header) == "h");
}

TEST_CASE("a poll tells which of several sockets and descriptors is ready") {
  Addresses addresses;
  zmq::context_t context;
  Router first(context);
  Router second(context);
  first.bind(addresses.make("ipc"));
  Dealer dealer(context, "w");
  dealer.connect(second.bind(addresses.make("ipc")));
  Mailbox<int> mailbox;
  Poll poll;
  poll.add(first);
  poll.add(mailbox.fd());
  poll.add(second);
  CHECK_FALSE(poll.wait(0));
  REQUIRE(dealer.send("", bytes_of("h")));
  REQUIRE(poll.wait(30'000));
  CHECK_FALSE(poll.ready(0));
  CHECK_FALSE(poll.ready(1));
  CHECK(poll.ready(2));
  CHECK(second.receive());
  mailbox.put(1);
  REQUIRE(poll.wait(30'000));
  CHECK(poll.ready(1));
  CHECK_FALSE(poll.ready(2));
}

}  // namespace
}  // namespace ballast
