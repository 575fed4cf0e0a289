#include "common/net/name_lookup.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "common/net/address.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

TEST_CASE("a name that does not resolve is told with the resolver's reason; numbers and ipc are no names") {
  for (const std::string number : {"tcp://127.0.0.1:7070", "tcp://[::1]:7070", "tcp://[fe80::1%eth0]:7070",
                                   "ipc:///tmp/no-such-host", "tcp://*:7070"}) {
    CHECK_FALSE(is_named(number));
    CHECK(resolve(number).addresses == std::vector{number});
    CHECK(resolve(number).why_not.empty());
  }
  CHECK(is_named("tcp://no-such-host.invalid:7070"));
  const auto none = resolve("tcp://no-such-host.invalid:7070");
  CHECK(none.addresses.empty());
  CHECK(none.why_not.find("the name no-such-host.invalid does not resolve here (") == 0);
}

TEST_CASE("a name means its numbers, each once, in the form of an address") {
  CHECK(is_named("tcp://localhost:7070"));
  const auto found = resolve("tcp://localhost:7070");
  CHECK(found.why_not.empty());
  REQUIRE_FALSE(found.addresses.empty());
  for (const auto& address : found.addresses) {
    const bool is_loopback = address == "tcp://127.0.0.1:7070" || address == "tcp://[::1]:7070";
    CHECK_MESSAGE(is_loopback, address);
    CHECK(std::count(found.addresses.begin(), found.addresses.end(), address) == 1);
  }
}

TEST_CASE("a name that means this machine alone is one that resolves to loopback addresses only") {
  CHECK(resolves_to_loopback("tcp://localhost:7070"));
  CHECK(resolves_to_loopback("tcp://127.0.0.2:7070"));
  CHECK_FALSE(resolves_to_loopback("tcp://192.0.2.7:7070"));
  CHECK_FALSE(resolves_to_loopback("tcp://no-such-host.invalid:7070"));
  CHECK_FALSE(resolves_to_loopback("ipc:///tmp/x"));
  CHECK(is_everywhere("tcp://0.0.0.0:7070"));
  CHECK(is_everywhere("tcp://[::]:7070"));
  CHECK_FALSE(is_everywhere("tcp://192.0.2.7:7070"));
}

TEST_CASE("a lookup answers once, for the address that was asked for first") {
  NameLookup lookup;
  CHECK_FALSE(lookup.take());
  lookup.begin("tcp://no-such-host.invalid:7070");
  lookup.begin("tcp://localhost:7070");
  const auto answer = eventually([&] { return lookup.take(); });
  CHECK(answer->address == "tcp://no-such-host.invalid:7070");
  CHECK_FALSE(answer->found.why_not.empty());
  CHECK_FALSE(lookup.take());
  lookup.begin("tcp://localhost:7070");
  CHECK(eventually([&] { return lookup.take(); })->found.why_not.empty());
}

TEST_CASE("many lookups of one host are one, and each is told its own port") {
  const auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
  const auto before = threads();
  std::vector<NameLookup> lookups(200);
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    lookups[i].begin("tcp://no-such-host.invalid:" + std::to_string(7000 + i));
    lookups[i].begin("tcp://localhost:1");  // the first one is under way
  }
  CHECK(threads() <= before + 100);
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const auto answer = eventually([&] { return lookups[i].take(); });
    CHECK(answer->address == "tcp://no-such-host.invalid:" + std::to_string(7000 + i));
    CHECK_FALSE(answer->found.why_not.empty());
    lookups[i].begin("tcp://localhost:" + std::to_string(7000 + i));
  }
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const auto answer = eventually([&] { return lookups[i].take(); });
    REQUIRE_FALSE(answer->found.addresses.empty());
    CHECK(answer->found.addresses.front().ends_with(":" + std::to_string(7000 + i)));
  }
}

}  // namespace
}  // namespace ballast
