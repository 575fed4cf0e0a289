#include "common/net/address.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace ballast {
namespace {

TEST_CASE("only ipc and numeric loopback are local") {
  for (const char* address :
       {"ipc:///tmp/x", "tcp://127.0.0.1:80", "tcp://127.9.8.7:*", "tcp://localhost:80", "tcp://[::1]:80"}) {
    CAPTURE(address);
    CHECK(is_local_address(address));
  }
  for (const char* address :
       {"tcp://0.0.0.0:80", "tcp://*:80", "tcp://10.0.0.1:80", "tcp://127.example.com:80",
        "tcp://localhost.example.com:80", "tcp://[::]:80", "tcp://eth0:80", "tcp://", "", "127.0.0.1:80"}) {
    CAPTURE(address);
    CHECK_FALSE(is_local_address(address));
  }
}

TEST_CASE("a name instead of a file is told from one") {
  CHECK(is_abstract_address("ipc://@lead"));
  for (const char* address : {"ipc:///tmp/@lead", "ipc://lead@", "ipc://", "tcp://127.0.0.1:80", ""}) {
    CAPTURE(address);
    CHECK_FALSE(is_abstract_address(address));
  }
}

TEST_CASE("each lane has an address of its own") {
  CHECK(lane_address("tcp://10.0.0.1:7100", 0) == "tcp://10.0.0.1:7100");
  CHECK(lane_address("tcp://10.0.0.1:7100", 3) == "tcp://10.0.0.1:7103");
  CHECK(lane_address("tcp://[::1]:7100", 1) == "tcp://[::1]:7101");
  CHECK(lane_address("tcp://10.0.0.1:*", 3) == "tcp://10.0.0.1:*");
  CHECK(lane_address("tcp://10.0.0.1:0", 3) == "tcp://10.0.0.1:0");
  CHECK(lane_address("ipc:///tmp/shard", 2) == "ipc:///tmp/shard-l2");
  CHECK(lane_address("tcp://10.0.0.1:65535", 0) == "tcp://10.0.0.1:65535");
  CHECK_THROWS_AS(lane_address("tcp://10.0.0.1:65535", 1), std::invalid_argument);
  CHECK_THROWS_AS(lane_address("tcp://10.0.0.1:70000", 0), std::invalid_argument);
}

TEST_CASE("an advertised host replaces the bound one; the port stays") {
  CHECK(advertised_address("tcp://0.0.0.0:7070", "node3.cluster") == "tcp://node3.cluster:7070");
  CHECK(advertised_address("tcp://127.0.0.1:7070", "10.0.0.3") == "tcp://10.0.0.3:7070");
  CHECK(advertised_address("tcp://[::]:7070", "fd00::3") == "tcp://[fd00::3]:7070");
  CHECK(advertised_address("ipc:///tmp/x", "node3") == "ipc:///tmp/x");
  CHECK(advertised_address("tcp://127.0.0.1:7070", "") == "tcp://127.0.0.1:7070");
}

TEST_CASE("a socket bound to every interface is never advertised as an address that only this machine understands") {
  const auto address = advertised_address("tcp://0.0.0.0:7070", "");
  CHECK(address.starts_with("tcp://"));
  CHECK(address.ends_with(":7070"));
  char name[256] = {};
  REQUIRE(::gethostname(name, sizeof(name) - 1) == 0);
  // Where the machine's own name cannot be resolved there is nothing better to tell.
  CHECK((address == std::string("tcp://") + name + ":7070" || address == "tcp://0.0.0.0:7070"));
}

TEST_CASE("a socket bound to every interface is reached from here by loopback, any other where it is bound") {
  CHECK(reached_from_here("tcp://0.0.0.0:7070") == "tcp://127.0.0.1:7070");
  CHECK(reached_from_here("tcp://[::]:7070") == "tcp://[::1]:7070");
  CHECK(reached_from_here("tcp://*:7070") == "tcp://127.0.0.1:7070");
  CHECK(reached_from_here("tcp://10.1.2.3:7070") == "tcp://10.1.2.3:7070");
  CHECK(reached_from_here("tcp://[fe80::1]:7070") == "tcp://[fe80::1]:7070");
  CHECK(reached_from_here("ipc:///run/lead") == "ipc:///run/lead");
}

TEST_CASE("ipc paths are bounded by the system's socket addresses") {
  CHECK(why_ipc_not_bindable("ipc://" + std::string(107, 'p')).empty());
  CHECK(why_ipc_not_bindable("ipc://" + std::string(108, 'p')).find("the path has 108 bytes") == 0);
  CHECK(why_ipc_not_bindable("tcp://" + std::string(200, 'p')).empty());
  CHECK(why_ipc_not_bindable("ipc://@abstract").empty());
}

}  // namespace
}  // namespace ballast
