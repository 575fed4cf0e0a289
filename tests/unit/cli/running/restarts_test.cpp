#include "cli/running/restarts.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a worker that cannot live is given up, one that lives long never") {
  RestartPolicy hopeless;
  auto expected = RestartPolicy::kFirstDelay;
  for (int life = 1; life < RestartPolicy::kShortLives; ++life) {
    const auto delay = hopeless.died_after(milliseconds(100));
    REQUIRE(delay.has_value());
    CHECK(*delay == expected);
    expected *= 2;
  }
  CHECK_FALSE(hopeless.died_after(milliseconds(100)).has_value());
  RestartPolicy unlucky;
  for (int life = 0; life < 100; ++life) {
    const auto delay = unlucky.died_after(RestartPolicy::kShortLife);
    REQUIRE(delay.has_value());
    CHECK(*delay == RestartPolicy::kFirstDelay);
  }
}

}  // namespace
}  // namespace ballast
