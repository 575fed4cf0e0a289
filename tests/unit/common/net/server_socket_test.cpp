// A server's socket that is made anew: what had piled up in it is freed, and who was connected comes again.
#include "common/net/server_socket.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <sys/socket.h>

#include <charconv>

#include "common/net/connected_peers.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

constexpr std::size_t kMiB = 1U << 20U;

std::uint64_t allocated_now() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// Sanitizers have heaps of their own.
bool is_heap_seen() {
  const auto before = allocated_now();
  const std::vector<char> more(kMiB);
  return allocated_now() >= before + more.size();
}

// Speaks as much of ZMTP 3.0 as it takes to send parts of a message that does not end.
class EndlessPeer {
 public:
  explicit EndlessPeer(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::uint16_t port = 0;
    const auto text = std::string_view(address).substr(address.rfind(':') + 1);
    std::from_chars(text.data(), text.data() + text.size(), port);
    to.sin_port = htons(port);
    REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
    send(std::string("\xFF\0\0\0\0\0\0\0\0\x7F\x03\0NULL", 16) + std::string(48, '\0'));
    send(
        std::string("\x04\x1C\x05READY\x0BSocket-Type\0\0\0\x06"
                    "DEALER",
                    2 + 6 + 12 + 4 + 6));
  }
  ~EndlessPeer() { ::close(fd_); }
  EndlessPeer(const EndlessPeer&) = delete;
  EndlessPeer& operator=(const EndlessPeer&) = delete;

  void send_part_of_a_mebibyte() {
    send(std::string("\x03\0\0\0\0\0\x10\0\0", 9));  // more, long, of 2^20 bytes
    send(std::string(kMiB, 'x'));
  }

 private:
  void send(const std::string& bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const auto more = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      REQUIRE(more > 0);
      sent += static_cast<std::size_t>(more);
    }
  }

  int fd_;
};

// It may have to connect again first, and what it says meanwhile may be lost. By which name it was heard.
std::string hear_from(ServerSocket& server, Dealer& dealer, const std::string& text) {
  std::string name;
  eventually([&] {
    dealer.tick(monotonic_micros());
    dealer.send("", bytes_of(text));
    const auto received = server->receive();
    name = received ? received->peer : std::string();
    return received && text_of(received->header) == text;
  });
  return name;
}

TEST_CASE("a socket made anew has its address, and those who were connected come again by themselves") {
  Addresses addresses;
  for (const std::string transport : kTransports) {
    CAPTURE(transport);
    zmq::context_t context;
    ServerSocket server(context, {}, addresses.make(transport));
    const auto endpoint = server->endpoint();
    Dealer dealer(context, "dealer", {.linger_ms = 0});
    dealer.connect(endpoint);
    hear_from(server, dealer, "before");
    for (int i = 0; i < 5; ++i) {
      const auto who = server.renew();
      CHECK(who.starts_with("1 is connected: "));
      CHECK(who.find(transport == "tcp" ? "127.0.0.1:" : "process " + std::to_string(::getpid())) != std::string::npos);
      CHECK(server->endpoint() == endpoint);
      CHECK(server->gate() != nullptr);
      const auto name = hear_from(server, dealer, "after " + std::to_string(i));
      eventually([&] { return server->send(name, bytes_of("answer")); });
      eventually([&] { return dealer.receive().has_value(); });
    }
    dealer.close();
    server->close();
  }
}

TEST_CASE("the parts of a message that never ends are freed with the socket, and it is told who has sent most") {
  if (!is_heap_seen()) {
    MESSAGE("left out: a sanitizer's heap is not to be seen");
    return;
  }
  constexpr int kParts = 96;
  zmq::context_t context;
  ServerSocket server(context, {}, "tcp://127.0.0.1:*");
  Dealer dealer(context, "dealer", {.linger_ms = 0});
  dealer.connect(server->endpoint());
  hear_from(server, dealer, "before");
  const auto before = allocated_now();
  EndlessPeer endless(server->endpoint());
  for (int i = 0; i < kParts; ++i) {
    endless.send_part_of_a_mebibyte();
  }
  eventually([&] { return allocated_now() > before + (kParts - 1) * kMiB; });
  while (server->receive()) {
  }
  CHECK(allocated_now() > before + (kParts - 1) * kMiB);  // nobody has seen any of it
  // A part is allocated when it begins to come: the last one's bytes may still be under way.
  eventually([&] { return connected_peers(server->endpoint()).at(0).received > kParts * kMiB; });
  REQUIRE(connected_peers(server->endpoint()).size() == 2);
  CHECK(server.renew().find(" (96 MiB received), 127.0.0.1:") != std::string::npos);
  eventually([&] { return allocated_now() < before + 8 * kMiB; });
  hear_from(server, dealer, "after");
  dealer.close();
  server->close();
}

}  // namespace
}  // namespace ballast
