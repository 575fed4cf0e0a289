#include "protocol/deadline.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {
constexpr LearntDeadline::Bounds kBounds{100, 5'000, 20'000};
}

TEST_CASE("a deadline is the initial one until enough has been seen") {
  LearntDeadline deadline(kBounds);
  CHECK(deadline.deadline() == 5'000);
  for (int i = 0; i < 4; ++i) {
    deadline.observe(200);
    CHECK(deadline.deadline() == 5'000);
  }
  deadline.observe(200);
  CHECK(deadline.deadline() == 600);
}

TEST_CASE("a deadline is three medians and six deviations") {
  LearntDeadline deadline(kBounds);
  for (const Micros span : {100, 200, 300, 400, 500}) {
    deadline.observe(span);
  }
  // The median is 300; the deviations are 200, 100, 0, 100, 200, whose median is 100.
  CHECK(deadline.deadline() == 3 * 300 + 6 * 100);
}

TEST_CASE("outliers do not move a deadline") {
  LearntDeadline deadline(kBounds);
  for (int i = 0; i < 20; ++i) {
    deadline.observe(1'000);
  }
  for (int i = 0; i < 5; ++i) {
    deadline.observe(1'000'000);
  }
  CHECK(deadline.deadline() == 3'000);
}

TEST_CASE("a deadline stays within its bounds") {
  LearntDeadline quick(kBounds);
  LearntDeadline slow(kBounds);
  for (int i = 0; i < 10; ++i) {
    quick.observe(1);
    slow.observe(1'000'000);
  }
  CHECK(quick.deadline() == 100);
  CHECK(slow.deadline() == 20'000);
}

TEST_CASE("a deadline forgets what is long past") {
  LearntDeadline deadline(kBounds);
  for (int i = 0; i < 31; ++i) {
    deadline.observe(4'000);
  }
  for (int i = 0; i < 31; ++i) {
    deadline.observe(1'000);
  }
  CHECK(deadline.deadline() == 3'000);
}
