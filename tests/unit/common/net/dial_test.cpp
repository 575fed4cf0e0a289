#include "common/net/dial.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

const std::string kOne = "tcp://10.0.0.1:5555";
const std::string kTwo = "tcp://10.0.0.2:5555";
const std::string kSix = "tcp://[fd00::1]:5555";

// At 0: the name has been looked up, and means these.
Dial dialed(const std::vector<std::string>& addresses) {
  Dial dial;
  CHECK(dial.takes_lookup(0));
  CHECK(dial.resolved(addresses, 0));
  return dial;
}

TEST_CASE("a name is looked up at once, and one that does not resolve again and again, less and less often") {
  Dial dial;
  CHECK(dial.takes_lookup(0));
  CHECK_FALSE(dial.takes_lookup(Dial::kAskAtLast));  // not answered
  CHECK_FALSE(dial.resolved({}, 10));
  CHECK(dial.address().empty());
  CHECK_FALSE(dial.takes_lookup(Dial::kAskEvery - 1));
  Micros now = 0;
  int asked = 0;
  for (; now < 60'000'000; now += 100'000) {
    if (dial.takes_lookup(now)) {
      ++asked;
      dial.resolved({}, now);
    }
    CHECK_FALSE(dial.tick(now));
  }
  CHECK(asked > 60'000'000 / Dial::kAskAtLast);
  CHECK(asked < 20);
  CHECK(dial.takes_lookup(now + Dial::kAskAtLast));
  CHECK(dial.resolved({kOne}, now));
  CHECK(dial.address() == kOne);
}

TEST_CASE("a connection that brings news is left alone, and nobody is asked") {
  auto dial = dialed({kOne});
  dial.connected(1);
  for (Micros now = 0; now < 100'000'000; now += 1'000'000) {
    CHECK_FALSE(dial.takes_lookup(now));
    CHECK_FALSE(dial.tick(now));
    dial.heard(now);
  }
}

TEST_CASE("one that breaks has the name looked up at once; the peer may be elsewhere, or come back") {
  auto dial = dialed({kOne});
  dial.connected(1);
  dial.lost(50'000'000);
  CHECK(dial.takes_lookup(50'000'000));
  CHECK_FALSE(dial.resolved({kOne}, 50'000'010));  // the transport tries that itself
  CHECK(dial.takes_lookup(52'000'000));
  CHECK(dial.resolved({kTwo}, 52'000'010));
  CHECK(dial.address() == kTwo);
  dial.connected(52'100'000);
  CHECK_FALSE(dial.takes_lookup(53'000'000));
}

TEST_CASE("one that is silent is doubted: it stays if the name still means it") {
  auto dial = dialed({kOne});
  dial.connected(1);
  const auto late = 1 + Dial::kSilent;
  CHECK_FALSE(dial.takes_lookup(late - 1));
  CHECK(dial.takes_lookup(late));
  CHECK_FALSE(dial.resolved({kTwo, kOne}, late));
  CHECK_FALSE(dial.takes_lookup(late + Dial::kSilent - 1));
  CHECK(dial.takes_lookup(late + Dial::kSilent));
  CHECK_FALSE(dial.resolved({}, late + Dial::kSilent));  // nobody knows the name now
  CHECK(dial.takes_lookup(late + 2 * Dial::kSilent));
  CHECK(dial.resolved({kTwo}, late + 2 * Dial::kSilent));
  CHECK(dial.address() == kTwo);
}

TEST_CASE("of several addresses the next one is tried when one refuses, or does not answer, and then all again") {
  auto dial = dialed({kSix, kOne, kTwo});
  CHECK(dial.address() == kSix);
  CHECK(dial.failed(1000));  // refused
  CHECK(dial.address() == kOne);
  CHECK_FALSE(dial.tick(1000 + Dial::kTryFor - 1));
  CHECK(dial.tick(1000 + Dial::kTryFor));  // silent
  CHECK(dial.address() == kTwo);
  CHECK_FALSE(dial.failed(5'000'000));  // that was all
  CHECK_FALSE(dial.failed(5'500'000));
  CHECK_FALSE(dial.tick(9'000'000));
  CHECK(dial.address() == kTwo);
  CHECK(dial.takes_lookup(9'000'000));
  CHECK(dial.resolved({kSix, kOne, kTwo}, 9'000'000));
  CHECK(dial.address() == kSix);
  CHECK(dial.failed(9'100'000));
  dial.connected(9'200'000);
  CHECK(dial.address() == kOne);
  CHECK_FALSE(dial.failed(9'300'000));  // of an earlier attempt
  CHECK_FALSE(dial.tick(90'000'000));
}

TEST_CASE("a single address is the transport's to try, however often it fails") {
  auto dial = dialed({kOne});
  for (Micros now = 1; now < 60'000'000; now += 500'000) {
    CHECK_FALSE(dial.failed(now));
    CHECK_FALSE(dial.tick(now));
    if (dial.takes_lookup(now)) {
      CHECK_FALSE(dial.resolved({kOne}, now));
    }
  }
  CHECK(dial.address() == kOne);
}

}  // namespace
}  // namespace ballast
