#include "common/net/link_info.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "common/net/connected_peers.h"

namespace ballast {
namespace {

class TcpPair {
 public:
  TcpPair() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener, 1) == 0);
    REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    ends_[0] = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(::connect(ends_[0], reinterpret_cast<sockaddr*>(&address), size) == 0);
    ends_[1] = ::accept(listener, nullptr, nullptr);
    ::close(listener);
  }
  ~TcpPair() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  TcpPair(const TcpPair&) = delete;
  TcpPair& operator=(const TcpPair&) = delete;

  [[nodiscard]] int one() const { return ends_[0]; }
  void exchange() const {
    char byte = 'x';
    REQUIRE(::write(ends_[0], &byte, 1) == 1);
    REQUIRE(::read(ends_[1], &byte, 1) == 1);
    REQUIRE(::write(ends_[1], &byte, 1) == 1);
    REQUIRE(::read(ends_[0], &byte, 1) == 1);
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_CASE("link info: the kernel tells of a TCP connection") {
  const TcpPair pair;
  for (int i = 0; i < 10; ++i) {
    pair.exchange();
  }
  const auto info = link_info({pair.one(), connection_cookie(pair.one())});
  REQUIRE(info.has_value());
  CHECK(info->round_trip > 0);
  CHECK(info->round_trip < 1'000'000);
  CHECK(info->retransmitted == 0);
}

TEST_CASE("link info: of another connection, of none and of what is not TCP nothing is told") {
  const TcpPair pair;
  CHECK_FALSE(link_info({pair.one(), connection_cookie(pair.one()) + 1}).has_value());
  CHECK_FALSE(link_info({pair.one(), 0}).has_value());
  CHECK_FALSE(link_info({-1, 5}).has_value());
  std::array<int, 2> local{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, local.data()) == 0);
  CHECK_FALSE(link_info({local[0], connection_cookie(local[0])}).has_value());
  ::close(local[0]);
  ::close(local[1]);
}

}  // namespace
}  // namespace ballast
