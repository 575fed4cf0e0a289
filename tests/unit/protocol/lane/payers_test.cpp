#include "protocol/lane/payers.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("who fails is out of good standing until it has paid one call, and twice as many each further time") {
  Payers payers;
  CHECK(payers.is_good(1));
  CHECK_FALSE(payers.pays(1));
  CHECK(payers.fails(1));
  CHECK_FALSE(payers.is_good(1));
  CHECK(payers.is_good(2));
  CHECK(payers.pays(1));
  CHECK(payers.is_good(1));
  CHECK(payers.fails(1));
  CHECK_FALSE(payers.pays(1));
  CHECK(payers.pays(1));
  CHECK(payers.fails(1));
  CHECK_FALSE(payers.fails(1));  // it was out already
  for (int paid = 0; paid < 7; ++paid) {
    CHECK_FALSE(payers.pays(1));
  }
  CHECK(payers.pays(1));
}

TEST_CASE("who pays for long enough is forgiven") {
  Payers payers;
  for (std::uint32_t paid = 0; paid < 3; ++paid) {
    payers.fails(1);
  }
  for (std::uint32_t paid = 0; paid < 4 + Payers::kForgiven; ++paid) {
    payers.pays(1);
  }
  payers.fails(1);
  CHECK(payers.pays(1));
}

TEST_CASE("whose failure is longest ago has the least number, and is forgotten first") {
  Payers payers;
  payers.fails(1);
  payers.fails(2);
  payers.fails(1);
  CHECK(payers.last_failure(2) < payers.last_failure(1));
  for (PayerId payer = 3; payer <= Payers::kMostKept; ++payer) {
    payers.fails(payer);
  }
  CHECK_FALSE(payers.is_good(2));
  payers.fails(Payers::kMostKept + 1);
  CHECK(payers.is_good(2));
  CHECK_FALSE(payers.is_good(1));
}

TEST_CASE("two calls that are taken back, and none paid between, show who pays nothing; \"none\" does not") {
  Payers payers;
  payers.fails(1, true);
  payers.fails(1);
  CHECK_FALSE(payers.pays_nothing(1));
  payers.pays(1);
  payers.fails(1, true);
  CHECK_FALSE(payers.pays_nothing(1));  // it has paid since the first
  payers.fails(1, true);
  CHECK(payers.pays_nothing(1));
  CHECK_FALSE(payers.pays(1));
  CHECK_FALSE(payers.pays_nothing(1));
  CHECK_FALSE(payers.is_good(1));  // it owes more than one
}

TEST_CASE("who is out of good standing is told in the order of failures, the last one first") {
  Payers payers;
  for (const PayerId payer : {4, 2, 3, 2}) {
    payers.fails(payer);
  }
  CHECK(payers.out() == std::vector<PayerId>{2, 3, 4});
  payers.pays(4);
  CHECK(payers.out() == std::vector<PayerId>{2, 3});
}
