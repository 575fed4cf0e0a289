#include "common/trace/clock_offset.h"

#include <doctest/doctest.h>

#include <random>

namespace ballast {
namespace {

// The lead's clock is ahead of ours by `ahead`; a frame takes `there` to the lead and `back` from it.
struct Exchange {
  Micros ahead;
  Micros there;
  Micros back;
  Micros held = 300;

  Micros with(ClockOffset& offset, Micros sent) const {
    const auto heard_there = sent + there + ahead;
    const auto now = sent + there + held + back;
    offset.heard({heard_there + held, sent, held}, now);
    return now;
  }
};

Micros apart(Micros one, Micros other) { return one > other ? one - other : other - one; }

TEST_CASE("clock offset: nothing is known before an answer") {
  ClockOffset offset;
  CHECK_FALSE(offset.reading(5).has_value());
  offset.heard({1'000, 0, 0}, 2'000);  // it has heard nothing of ours
  CHECK_FALSE(offset.reading(5'000).has_value());
}

TEST_CASE("clock offset: a symmetrical exchange tells it exactly") {
  ClockOffset offset;
  const auto now = Exchange{7'000'000, 400, 400}.with(offset, 1'000'000);
  const auto reading = offset.reading(now);
  REQUIRE(reading.has_value());
  CHECK(apart(reading->lead, reading->own + 7'000'000) <= 2);
  CHECK(reading->round_trip == 800);
  CHECK(reading->error <= 402);
}

TEST_CASE("clock offset: a clock that is behind ours") {
  ClockOffset offset;
  // sent at 9 s of ours, heard at 2 s of the lead's
  offset.heard({2'000'300, 9'000'000, 300}, 9'001'300);
  const auto reading = offset.reading(9'001'300);
  REQUIRE(reading.has_value());
  CHECK(apart(reading->lead + 7'000'500, reading->own) <= 2);
}

TEST_CASE("clock offset: whatever the ways take, it is wrong by no more than it says") {
  std::mt19937_64 random(5);
  std::uniform_int_distribution<Micros> way(50, 60'000);
  for (int life = 0; life < 200; ++life) {
    ClockOffset offset;
    Micros now = 10'000'000;
    for (int i = 0; i < 50; ++i) {
      now = Exchange{3'000'000'000, way(random), way(random)}.with(offset, now) + way(random);
      const auto reading = offset.reading(now);
      REQUIRE(reading.has_value());
      CHECK(apart(reading->lead, now + 3'000'000'000) <= reading->error);
    }
  }
}

TEST_CASE("clock offset: the round trip is the quickest of late, and not of the reading that is kept") {
  ClockOffset offset;
  auto now = Exchange{1'000, 100, 100}.with(offset, 1'000'000);
  const auto slow = [&](Micros span) {
    for (const auto until = now + span; now < until;) {
      now = Exchange{1'000, 20'000, now % 3 == 0 ? Micros{21'000} : Micros{25'000}}.with(offset, now + 50'000);
    }
  };
  slow(ClockOffset::kLately);
  CHECK(offset.reading(now)->round_trip == 200);
  slow(ClockOffset::kLately + 100'000);
  CHECK(offset.reading(now)->round_trip == 41'000);
  CHECK(offset.reading(now)->error < 2'000);  // that of the first one
  now = Exchange{1'000, 300, 300}.with(offset, now);
  CHECK(offset.reading(now)->round_trip == 600);
  now = Exchange{1'000, 900, 900}.with(offset, now + 3 * ClockOffset::kLately);  // after a long silence
  CHECK(offset.reading(now)->round_trip == 1'800);
  now = Exchange{900'000'000, 2'000, 2'000}.with(offset, now);  // another process's
  CHECK(offset.reading(now)->round_trip == 4'000);
}

TEST_CASE("clock offset: one quick exchange is remembered among slow ones, and its error grows") {
  ClockOffset offset;
  auto now = Exchange{1'000, 100, 100}.with(offset, 1'000'000);
  for (int i = 0; i < 60; ++i) {
    now = Exchange{1'000, 100, 40'000}.with(offset, now + 20'000);
  }
  const auto reading = offset.reading(now);
  CHECK(apart(reading->lead, now + 1'000) <= 2);
  CHECK(reading->round_trip == 200);
  CHECK(reading->error > 102 + 300);  // 3.6 seconds
  CHECK(reading->error < 1'000);
}

TEST_CASE("clock offset: clocks that drift apart are known with an error that says so, however often frames come") {
  ClockOffset offset;
  Micros now = 1'000'000;
  // The lead's clock is slower by 90 microseconds a second; the first exchange is the quickest by far.
  const auto lead = [](Micros own) { return own + 5'000'000 - own * 9 / 100'000; };
  const auto exchange = [&](Micros way) {
    const auto sent = now;
    now += 2 * way;
    offset.heard({lead(sent + way), sent, 0}, now);
    const auto reading = offset.reading(now);
    REQUIRE(reading.has_value());
    REQUIRE(apart(reading->lead, lead(now)) <= reading->error);
  };
  exchange(50);
  for (int i = 0; i < 300'000; ++i) {  // five minutes
    now += 200;
    exchange(400);
  }
}

TEST_CASE("clock offset: another lead has another clock") {
  ClockOffset offset;
  const auto before = Exchange{1'000, 100, 100}.with(offset, 1'000'000);
  const auto now = Exchange{50'000'000, 900, 900}.with(offset, before + 10'000);
  CHECK(apart(offset.reading(now)->lead, now + 50'000'000) <= 2);
}

TEST_CASE("clock offset: what cannot be is not believed") {
  ClockOffset offset;
  offset.heard({5'000, 2'000, 900}, 1'000);  // answers what is not sent yet
  offset.heard({5'000, 2'000, 900}, 2'500);  // held for longer than it took
  offset.heard({500, 2'000, 900}, 10'000);   // heard before its clock began
  CHECK_FALSE(offset.reading(20'000).has_value());
}

}  // namespace
}  // namespace ballast
