#include "common/net/ticks.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("the first tick is due at once, the next so long after it was taken") {
  Ticks ticks(5'000);
  CHECK(ticks.until(1) == 0);
  CHECK(ticks.take(10'000));
  CHECK_FALSE(ticks.take(14'999));
  CHECK(ticks.take(17'000));  // late
  CHECK_FALSE(ticks.take(21'999));
  CHECK(ticks.take(22'000));
}

TEST_CASE("a poll does not wake before the tick that it waits for") {
  Ticks ticks(5'000);
  REQUIRE(ticks.take(10'000));
  CHECK(ticks.until(10'000) == 5);
  CHECK(ticks.until(14'001) == 1);
  CHECK(ticks.until(15'000) == 0);
  CHECK(ticks.until(16'000) == 0);
}

}  // namespace
}  // namespace ballast
