#include "protocol/worker/lead_watch.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kHello = 200;
constexpr Micros kLeadSilence = 1'000;

LeadWatch watch() { return LeadWatch({kHello, kLeadSilence}); }

}  // namespace

TEST_CASE("a lead that has never answered is waited for, whatever it takes") {
  auto lead = watch();
  for (Micros now = 5'000; now < 50'000; now += 100) {
    REQUIRE_FALSE(lead.tick(now));
  }
}

TEST_CASE("a lead that has answered is gone when it is silent for longer than its time") {
  auto lead = watch();
  lead.tick(5'000);
  lead.heard();
  lead.tick(5'100);
  Micros now = 5'200;
  for (; now <= 6'100; now += 100) {
    REQUIRE_FALSE(lead.tick(now));
  }
  CHECK(lead.tick(now) == 1'100);
}

TEST_CASE("time in which the worker itself slept is not the lead's silence") {
  auto lead = watch();
  lead.tick(5'000);
  lead.heard();
  lead.tick(5'100);
  CHECK_FALSE(lead.tick(90'000));
  CHECK_FALSE(lead.tick(90'400));
}

TEST_CASE("a hello is said until it is answered, and anew to a lead that forgot") {
  auto lead = watch();
  CHECK(lead.greets(false, 5'000));
  CHECK_FALSE(lead.greets(false, 5'199));
  CHECK(lead.greets(false, 5'200));
  CHECK_FALSE(lead.greets(true, 9'000));
  lead.greet_again();
  CHECK(lead.greets(true, 9'001));
  CHECK_FALSE(lead.greets(true, 9'900));
}

TEST_CASE("how long the worker has been silent itself is told, and once that it has become idle") {
  auto lead = watch();
  lead.beats(5'000);
  CHECK(lead.has_beaten(5'000));
  CHECK_FALSE(lead.is_silent_for(100, 5'099));
  CHECK(lead.is_silent_for(100, 5'100));
  CHECK(lead.is_silent_for(0, 5'000));
  CHECK(lead.becomes_idle());
  CHECK_FALSE(lead.becomes_idle());
  lead.works();
  CHECK(lead.becomes_idle());
}
