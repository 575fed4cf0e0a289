#include "protocol/recent_median.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("the median is that of the last values, the upper one of an even number") {
  RecentMedian<3> recent;
  CHECK(recent.empty());
  CHECK(recent.median() == 0);
  recent.observe(7);
  CHECK(recent.median() == 7);
  recent.observe(5);
  CHECK(recent.median() == 7);
  recent.observe(6);
  CHECK(recent.median() == 6);
  recent.observe(100);  // the first one is forgotten
  recent.observe(200);
  CHECK(recent.median() == 100);
  CHECK(recent.count() == 5);
}

TEST_CASE("the newest value can be amended, and no other") {
  RecentMedian<3> recent;
  for (const Micros value : {10, 20, 30, 40}) {
    recent.observe(value);
  }
  recent.amend(25);
  CHECK(recent.median() == 25);
  CHECK(recent.count() == 4);
}

TEST_CASE("the deviation is the median distance from the median") {
  RecentMedian<5> recent;
  CHECK(recent.deviation() == 0);
  for (const Micros value : {10, 12, 20, 21, 1'000}) {
    recent.observe(value);
  }
  CHECK(recent.median() == 20);
  CHECK(recent.deviation() == 8);  // of 0, 1, 8, 10, 980
}

TEST_CASE("the median of the last fifteen values; of none it is 0") {
  RecentMedian<15> recent;
  CHECK(recent.median() == 0);
  recent.observe(7);
  CHECK(recent.median() == 7);
  for (int i = 0; i < 15; ++i) {
    recent.observe(100);
  }
  CHECK(recent.median() == 100);
  for (int i = 0; i < 7; ++i) {
    recent.observe(300);
  }
  CHECK(recent.median() == 100);
  recent.observe(300);
  CHECK(recent.median() == 300);
}
