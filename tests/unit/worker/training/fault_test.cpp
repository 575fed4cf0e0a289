#include "worker/training/fault.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

using Course = PlannedDeath::Course;

PlannedDeath at(const std::string& text) { return PlannedDeath(Fault::parse(text)); }

TEST_CASE("without a fault a worker goes on") {
  PlannedDeath death({});
  CHECK(death.before_push(9) == Course::go_on);
  CHECK(death.at_receipt(9) == Course::go_on);
}

TEST_CASE("before-push dies before the first chunk of the step, not of an earlier one") {
  auto death = at("before-push@3");
  CHECK(death.before_push(2) == Course::go_on);
  CHECK(death.at_receipt(3) == Course::go_on);
  CHECK(death.before_push(3) == Course::die);
}

TEST_CASE("between-chunks sends one chunk, keeps the others, and dies with the receipt") {
  auto death = at("between-chunks@3");
  CHECK(death.before_push(2) == Course::go_on);
  CHECK(death.before_push(3) == Course::go_on);
  CHECK(death.before_push(3) == Course::keep);
  CHECK(death.before_push(4) == Course::keep);
  CHECK(death.at_receipt(2) == Course::go_on);
  CHECK(death.at_receipt(3) == Course::die);
}

TEST_CASE("after-receipt sends everything, and dies with the first receipt of the step") {
  auto death = at("after-receipt@3");
  CHECK(death.before_push(3) == Course::go_on);
  CHECK(death.before_push(3) == Course::go_on);
  CHECK(death.at_receipt(3) == Course::die);
}

TEST_CASE("a fault that cannot be read says what can") {
  CHECK_THROWS_WITH_AS(Fault::parse("sometimes@3"),
                       "--fault sometimes@3: points are before-push, between-chunks and after-receipt",
                       std::runtime_error);
  CHECK_THROWS_AS(Fault::parse("before-push"), std::runtime_error);
  CHECK_THROWS_AS(Fault::parse("before-push@x"), std::runtime_error);
}

}  // namespace
}  // namespace ballast
