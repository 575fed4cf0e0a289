#include "server/memory_account.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

using Verdict = MemoryAccount::Verdict;

constexpr std::uint64_t kMiB = 1U << 20U;

TEST_CASE("what the parts have, and what was there at first, is the server's own") {
  MemoryAccount account;
  CHECK(account.look(100 * kMiB, 40 * kMiB, 0) == Verdict::fine);
  CHECK(account.look(5'100 * kMiB, 5'040 * kMiB, 1) == Verdict::fine);
  CHECK(account.look(5'100 * kMiB + MemoryAccount::kExcess, 5'040 * kMiB, 2) == Verdict::fine);
  CHECK(account.look(5'101 * kMiB + MemoryAccount::kExcess, 5'040 * kMiB, 3) == Verdict::beyond);
  CHECK(account.excess() == MemoryAccount::kExcess + kMiB);
}

TEST_CASE("what has been freed since is not to be had again for nothing") {
  MemoryAccount account;
  account.look(400 * kMiB, 0, 0);
  account.look(100 * kMiB, 0, 1);
  CHECK(account.look(357 * kMiB, 0, 2) == Verdict::beyond);
}

TEST_CASE("a peer that begins again at once is cut again and again") {
  MemoryAccount account;
  account.look(100 * kMiB, 0, 0);
  Micros now = 1;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(account.look(600 * kMiB, 0, now) == Verdict::beyond);
    CHECK(account.look(600 * kMiB, 0, now + MemoryAccount::kSettles / 4) == Verdict::fine);
    CHECK(account.look(110 * kMiB, 0, now + MemoryAccount::kSettles / 2) == Verdict::fine);
    now += MemoryAccount::kSettles;
  }
}

TEST_CASE("what stays when all have been cut was nobody's, and they are not cut for it again") {
  MemoryAccount account;
  account.look(100 * kMiB, 0, 0);
  REQUIRE(account.look(900 * kMiB, 0, 1) == Verdict::beyond);
  CHECK(account.look(890 * kMiB, 0, 2) == Verdict::fine);
  CHECK(account.look(900 * kMiB, 0, 1 + MemoryAccount::kSettles) == Verdict::not_the_sockets);
  CHECK(account.look(900 * kMiB, 0, 2 + MemoryAccount::kSettles) == Verdict::fine);
  CHECK(account.look(1'100 * kMiB, 0, 3 + MemoryAccount::kSettles) == Verdict::fine);
  CHECK(account.look(1'200 * kMiB, 0, 4 + MemoryAccount::kSettles) == Verdict::beyond);
}

}  // namespace
}  // namespace ballast
