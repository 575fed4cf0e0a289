#include "protocol/lane/payers.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {
constexpr Micros kPause = 1000;
}  // namespace

TEST_CASE("who fails is out of good standing until it has paid one call, and twice as many each further time") {
  Payers payers(kPause);
  CHECK(payers.is_good(1));
  CHECK_FALSE(payers.pays(1));
  CHECK(payers.fails(1, 0));
  CHECK_FALSE(payers.is_good(1));
  CHECK(payers.is_good(2));
  CHECK(payers.pays(1));
  CHECK(payers.is_good(1));
  CHECK(payers.fails(1, 0));
  CHECK_FALSE(payers.pays(1));
  CHECK(payers.pays(1));
  CHECK(payers.fails(1, 0));
  CHECK_FALSE(payers.fails(1, 0));  // it was out already
  for (int paid = 0; paid < 7; ++paid) {
    CHECK_FALSE(payers.pays(1));
  }
  CHECK(payers.pays(1));
}

TEST_CASE("who pays for long enough is forgiven") {
  Payers payers(kPause);
  for (std::uint32_t paid = 0; paid < 3; ++paid) {
    payers.fails(1, 0);
  }
  for (std::uint32_t paid = 0; paid < 4 + Payers::kForgiven; ++paid) {
    payers.pays(1);
  }
  payers.fails(1, 0);
  CHECK(payers.pays(1));
}

TEST_CASE("whose failure is longest ago has the least number, and is forgotten first") {
  Payers payers(kPause);
  payers.fails(1, 0);
  payers.fails(2, 0);
  payers.fails(1, 0);
  CHECK(payers.last_failure(2) < payers.last_failure(1));
  for (PayerId payer = 3; payer <= Payers::kMostKept; ++payer) {
    payers.fails(payer, 0);
  }
  CHECK_FALSE(payers.is_good(2));
  payers.fails(Payers::kMostKept + 1, 0);
  CHECK(payers.is_good(2));
  CHECK_FALSE(payers.is_good(1));
}

TEST_CASE("two calls that are taken back, and none paid between, show who pays nothing; \"none\" does not") {
  Payers payers(kPause);
  payers.fails(1, 0, true);
  payers.fails(1, 0);
  CHECK_FALSE(payers.pays_nothing(1));
  payers.pays(1);
  payers.fails(1, 0, true);
  CHECK_FALSE(payers.pays_nothing(1));  // it has paid since the first
  payers.fails(1, 0, true);
  CHECK(payers.pays_nothing(1));
  CHECK_FALSE(payers.pays(1));
  CHECK_FALSE(payers.pays_nothing(1));
  CHECK_FALSE(payers.is_good(1));  // it owes more than one
}

TEST_CASE("who is out of good standing is told in the order of failures, the last one first") {
  Payers payers(kPause);
  for (const PayerId payer : {4, 2, 3, 2}) {
    payers.fails(payer, 0);
  }
  CHECK(payers.out() == std::vector<PayerId>{2, 3, 4});
  payers.pays(4);
  CHECK(payers.out() == std::vector<PayerId>{2, 3});
}

TEST_CASE("of who has failed nothing is called for a while, for twice as long each time, and then again") {
  Payers payers(kPause);
  Micros now = 1'000'000;
  CHECK(payers.may_be_called(1, now));
  auto pause = kPause;
  for (std::uint32_t i = 0; i < Payers::kMostPauseDoublings + 3; ++i) {
    CAPTURE(i);
    payers.fails(1, now);
    CHECK_FALSE(payers.may_be_called(1, now));
    CHECK_FALSE(payers.may_be_called(1, now + pause - 1));
    CHECK(payers.may_be_called(1, now + pause));
    CHECK(payers.may_be_called(2, now));
    now += pause;
    pause = std::min(2 * pause, kPause << Payers::kMostPauseDoublings);
  }
  while (!payers.pays(1)) {
  }
  CHECK(payers.may_be_called(1, now - kPause));
}

TEST_CASE("whoever is forgotten, or has never failed, counts as having failed longest ago") {
  Payers payers(kPause);
  CHECK(payers.last_failure(1) == 0);
  payers.fails(1, 0);
  CHECK(payers.last_failure(1) == 1);
}

TEST_CASE("who was of no use is struck the second time, and not if it has paid between") {
  Payers payers(kPause);
  CHECK_FALSE(payers.is_struck(1));
  CHECK(payers.is_good(1));
  CHECK(payers.is_struck(1));
  payers.pays(1);
  CHECK_FALSE(payers.is_struck(1));
}
