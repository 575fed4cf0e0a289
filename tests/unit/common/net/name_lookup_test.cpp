#include "common/net/name_lookup.h"

#include "common/net/address.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

TEST_CASE("a name that does not resolve is told with the resolver's reason; numbers and ipc are no names") {
  CHECK(why_not_resolved("tcp://127.0.0.1:7070").empty());
  CHECK(why_not_resolved("tcp://[::1]:7070").empty());
  CHECK(why_not_resolved("tcp://localhost:7070").empty());
  CHECK(why_not_resolved("ipc:///tmp/no-such-host").empty());
  const auto why = why_not_resolved("tcp://no-such-host.invalid:7070");
  CHECK(why.find("the name no-such-host.invalid does not resolve here (") == 0);
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
  CHECK_FALSE(answer->why_not.empty());
  CHECK_FALSE(lookup.take());
  lookup.begin("tcp://localhost:7070");
  CHECK(eventually([&] { return lookup.take(); })->why_not.empty());
}

}  // namespace
}  // namespace ballast
