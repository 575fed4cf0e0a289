#include "protocol/lead/pauses.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Pauses::Patience kPatience{1'000, 50};

}  // namespace

TEST_CASE("a stop is out of patience so long after it was first wanted") {
  Pauses pauses(kPatience);
  CHECK_FALSE(pauses.is_overdue(5'000));
  pauses.want_stop(100);
  pauses.want_stop(900);
  CHECK_FALSE(pauses.is_overdue(1'100));
  CHECK(pauses.is_overdue(1'101));
  pauses.forgive(500);
  CHECK_FALSE(pauses.is_overdue(1'600));
  pauses.restart_patience(2'000);
  CHECK_FALSE(pauses.is_overdue(3'000));
  CHECK(pauses.is_overdue(3'001));
}

TEST_CASE("a stop that is withdrawn waits for no copy, and begins anew when it is wanted again") {
  Pauses pauses(kPatience);
  pauses.want_stop(100);
  pauses.wait_for_copy(true);
  pauses.withdraw_stop();
  CHECK_FALSE(pauses.wants_stop());
  CHECK_FALSE(pauses.waits_for_copy());
  CHECK_FALSE(pauses.is_overdue(9'000));
  pauses.want_stop(9'000);
  CHECK_FALSE(pauses.is_overdue(10'000));
}

TEST_CASE("a hold that the shards had passed is tried further on each time") {
  Pauses pauses(kPatience);
  REQUIRE(pauses.hold_after(10, 100));
  CHECK(pauses.hold() == 12);
  REQUIRE(pauses.hold_after(13, 100));
  CHECK(pauses.hold() == 17);
  REQUIRE(pauses.hold_after(18, 100));
  CHECK(pauses.hold() == 26);
  pauses.expect_little();
  REQUIRE(pauses.hold_after(30, 100));
  CHECK(pauses.hold() == 32);
}

TEST_CASE("nothing is held for at the job's end") {
  Pauses pauses(kPatience);
  CHECK_FALSE(pauses.hold_after(98, 100));
  CHECK_FALSE(pauses.hold());
}

TEST_CASE("where a disk had no room the hold is tried again after a while") {
  Pauses pauses(kPatience);
  REQUIRE(pauses.hold_after(10, 100));
  pauses.hold_later(1'000);
  CHECK_FALSE(pauses.hold());
  CHECK(pauses.waits_for_room());
  CHECK_FALSE(pauses.has_waited(1'049));
  CHECK(pauses.has_waited(1'050));
  CHECK_FALSE(pauses.has_waited(1'050));
  CHECK_FALSE(pauses.waits_for_room());
}

TEST_CASE("a new timeline is untouched until training begins, and holds nowhere") {
  Pauses pauses(kPatience);
  CHECK_FALSE(pauses.untouched());
  pauses.want_stop(0);
  pauses.hold_at(4);
  pauses.wait_for_copy(true);
  pauses.rewind();
  CHECK(pauses.untouched());
  CHECK_FALSE(pauses.hold());
  CHECK_FALSE(pauses.waits_for_copy());
  CHECK(pauses.wants_stop());
  pauses.begin();
  CHECK_FALSE(pauses.untouched());
}

TEST_CASE("a job that is resumed holds nowhere and waits for no room") {
  Pauses pauses(kPatience);
  pauses.hold_later(0);
  pauses.hold_at(4);
  pauses.release();
  CHECK_FALSE(pauses.hold());
  CHECK_FALSE(pauses.waits_for_room());
}
