#include "protocol/lead/statistics_log.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("every step is taken once, in order") {
  StatisticsLog log({}, 0, 0);
  CHECK_FALSE(log.add({1, 1, 0, 10}));
  CHECK(log.add({0, 1, 0, 10}));
  CHECK_FALSE(log.add({0, 9, 0, 10}));
  CHECK(log.add({1, 3, 0, 30}));
  CHECK(log.next() == 2);
  CHECK(log.examples() == 40);
  CHECK(log.mean_loss(0, 2) == 2.5);
  CHECK(log.mean_loss(1, 9) == 3);
  CHECK(log.mean_loss(5, 9) == 0);
}

TEST_CASE("going back forgets later steps, which count again when they come again") {
  StatisticsLog log({}, 0, 0);
  for (Step step = 0; step < 4; ++step) {
    log.add({step, 1, 0, 10});
  }
  log.trim(2);
  CHECK(log.next() == 2);
  CHECK(log.examples() == 20);
  CHECK(log.add({2, 5, 0, 10}));
  CHECK(log.mean_loss(0, 3) == doctest::Approx(7.0 / 3));
}

TEST_CASE("a log goes on where an earlier life left it, and counts what it does not know any more") {
  StatisticsLog log({{4, 2, 0, 10}, {5, 4, 0, 10}}, 6, 1'000);
  CHECK(log.examples() == 1'020);
  CHECK(log.add({6, 6, 0, 10}));
  CHECK(log.mean_loss(0, 100) == 4);
  log.forget_before(6);
  CHECK(log.mean_loss(0, 100) == 6);
  CHECK(log.examples() == 1'030);
}

TEST_CASE("skipped steps count no examples and no loss") {
  StatisticsLog log({}, 0, 0);
  log.add({0, 0, 0, 0});
  CHECK(log.mean_loss(0, 1) == 0);
  log.add({1, 4, 0, 10});
  CHECK(log.mean_loss(0, 2) == 4);
}
