// Bytes sent without copying come back exactly once, whatever happens to the message.
#include <algorithm>
#include <set>

#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr std::size_t kBytes = 1U << 20U;

Borrowed lend(const std::string& content, std::uint64_t object, ReleaseQueue& queue) {
  return {content.data(), content.size(), {7, object, nullptr, content.size()}, &queue};
}

TEST_CASE("each borrowed payload is released once, with what the sender said of it") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    ReleaseQueue releases;
    zmq::context_t context;
    Router router(context);
    Dealer dealer(context, "w");
    dealer.connect(router.bind(addresses.make(transport)));
    const std::string content(kBytes, 'g');
    int buffer = 0;
    for (std::uint64_t object = 0; object < 20; ++object) {
      REQUIRE(dealer.send("", bytes_of("h"), {content.data(), kBytes, {7, object, &buffer, kBytes}, &releases}));
    }
    for (int i = 0; i < 20; ++i) {
      CHECK(text_of(*receive_from(router).payload) == content);
    }
    std::set<std::uint64_t> objects;
    for (const auto& released : wait_for_releases(releases, 20)) {
      CHECK(released.owner == 7);
      CHECK(released.buffer == &buffer);
      CHECK(released.bytes == kBytes);
      CHECK(objects.insert(released.object).second);
    }
    CHECK(objects.size() == 20);
    router.close();
    dealer.close();
    context.close();
    CHECK(releases.take().empty());
  }
}

TEST_CASE("the sender may write again after the release, and the receiver keeps what was sent") {
  Addresses addresses;
  ReleaseQueue releases;
  zmq::context_t context;
  Router router(context);
  Dealer dealer(context, "w");
  dealer.connect(router.bind(addresses.make("tcp")));
  std::string content(kBytes, 'a');
  for (const char letter : {'b', 'c', 'd'}) {
    REQUIRE(dealer.send("", bytes_of("h"), lend(content, 1, releases)));
    const auto before = content;
    const auto received = receive_from(router);
    wait_for_releases(releases, 1);
    std::fill(content.begin(), content.end(), letter);
    CHECK(text_of(*received.payload) == before);
  }
}

TEST_CASE("a send that fails releases at once") {
  Addresses addresses;
  ReleaseQueue releases;
  zmq::context_t context;
  Router router(context);
  router.bind(addresses.make("tcp"));
  const std::string content(kBytes, 'g');
  CHECK_FALSE(router.send("nobody", bytes_of("h"), lend(content, 3, releases)));
  const auto released = releases.take();
  REQUIRE(released.size() == 1);
  CHECK(released[0].object == 3);
}

TEST_CASE("what a peer that went away did not take is released") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    ReleaseQueue releases;
    zmq::context_t context;
    Router router(context);
    const auto address = router.bind(addresses.make(transport));
    const std::string content(kBytes, 'g');
    std::size_t sent = 0;
    {
      zmq::context_t other;
      Dealer dealer(other, "w", {.linger_ms = 0});
      dealer.connect(address);
      REQUIRE(dealer.send("", bytes_of("hello")));
      receive_from(router);
      for (; sent < 64; ++sent) {  // more than the sockets' buffers hold; nobody reads
        REQUIRE(router.send("w", bytes_of("h"), lend(content, sent, releases)));
      }
    }
    // A loop that reads learns of the end of the connection: it may have to read the connection's last word before the
    // transport lets go of what waits for the peer, though a send fails already.
    std::size_t released = 0;
    eventually([&] {
      router.receive();
      released += releases.take().size();
      return released >= sent && !router.send("w", bytes_of("still there?"));
    });
    CHECK(released == sent);
  }
}

TEST_CASE("closing socket and context gives back everything, sent or not") {
  Addresses addresses;
  ReleaseQueue releases;
  const std::string content(kBytes, 'g');
  {
    zmq::context_t context;
    Dealer dealer(context, "w", {.linger_ms = 0});
    dealer.connect("ipc://" + addresses.path("nobody-listens"));
    for (std::uint64_t object = 0; object < 5; ++object) {
      REQUIRE(dealer.send("", bytes_of("h"), lend(content, object, releases)));
    }
    CHECK(releases.take().empty());
    dealer.close();
    context.close();
  }
  CHECK(releases.take().size() == 5);
}

}  // namespace
}  // namespace ballast
