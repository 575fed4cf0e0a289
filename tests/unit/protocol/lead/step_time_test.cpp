#include "protocol/lead/step_time.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr LearntDeadline::Bounds kStepBounds{10, 1'000, 10'000};

}  // namespace

TEST_CASE("what half of the sessions need says when slots are late") {
  StepTime time(kStepBounds);
  Micros now = 0;
  for (int step = 0; step < 5; ++step) {
    time.begin(now, 0);
    CHECK(time.wants_half(0));
    time.half_delivered(now + 100);
    CHECK_FALSE(time.wants_half(0));
    now += 900;  // the slowest
    time.end(1, now, 0);
  }
  CHECK(time.deadline() == 300);
}

TEST_CASE("a step that waited for slots given out again teaches nothing") {
  StepTime time(kStepBounds);
  for (int step = 0; step < 5; ++step) {
    time.begin(0, 0);
    CHECK_FALSE(time.wants_half(1));
    time.end(1, 900, 1);
  }
  CHECK(time.deadline() == kStepBounds.initial);
}

TEST_CASE("steps that ended between two reports share the time") {
  StepTime time(kStepBounds);
  for (int step = 0; step < 5; ++step) {
    time.begin(0, 0);
    time.end(4, 400, 0);
  }
  CHECK(time.deadline() == 300);
}
