#include "worker/exposed_wait.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("exposed wait: weights are awaited from when they were asked for until they come, each chunk once") {
  ExposedWait wait;
  CHECK_FALSE(wait.awaits_weights());
  wait.arrived(3);  // nobody asked
  wait.asked(3);
  wait.asked(3);  // again
  wait.asked(900);
  wait.arrived(3);
  CHECK(wait.awaits_weights());
  wait.arrived(3);
  wait.arrived(900);
  CHECK_FALSE(wait.awaits_weights());
  wait.asked(5);
  wait.asked(6);
  wait.forget_weights();
  CHECK_FALSE(wait.awaits_weights());
  wait.arrived(5);  // after all
  wait.asked(6);
  CHECK(wait.awaits_weights());
}

TEST_CASE("exposed wait: only what it waits for counts") {
  ExposedWait wait;
  wait.waits(false, 1'000);
  wait.waits(true, 1'500);
  CHECK(wait.total() == 0);
  wait.waits(true, 1'700);
  CHECK(wait.total() == 200);
  wait.waits(false, 2'000);
  wait.waits(false, 9'000);
  CHECK(wait.total() == 500);
  wait.waits(true, 9'500);
  wait.waits(false, 9'600);
  CHECK(wait.total() == 600);
}

}  // namespace
}  // namespace ballast
