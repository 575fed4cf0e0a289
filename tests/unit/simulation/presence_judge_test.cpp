// Which server the lead takes for a shard, by the judge alone.
#include <doctest/doctest.h>

#include "tests/simulation/judge/presence.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

constexpr Micros kBegunLives = 50'000;

LifeSpec life_of_silence() {
  auto life = small_life();
  life.shard_silence.floor = 200'000;  // of which half counts, as the lead's clock may be fast
  life.tick = 2'000;                   // half as much more at most, as clocks are drawn
  return life;
}

PresenceJudge begun() {
  PresenceJudge judge(life_of_silence());
  judge.lead_starts(kBegunLives);
  return judge;
}

TEST_CASE("presence: another database takes a shard's place only after a silence of the one before") {
  auto judge = begun();
  judge.heard(11, kBegunLives + 1'000);
  CHECK_THROWS_WITH_AS(judge.listed(1, 11, 12, kBegunLives + 97'999),
                       Contains("another database takes the place of shard 1's, which was silent for 96 ms at most"),
                       Violation);
  CHECK_NOTHROW(judge.listed(1, 11, 12, kBegunLives + 98'000));
}

TEST_CASE("presence: one that was never heard of has been silent since the lead began") {
  auto judge = begun();
  CHECK_THROWS_WITH_AS(judge.listed(0, 11, 12, kBegunLives + 96'999), Contains("silent for 96 ms"), Violation);
  CHECK_NOTHROW(judge.listed(0, 11, 12, kBegunLives + 100'000));
  judge.lead_starts(kBegunLives + 100'000);
  CHECK_THROWS_WITH_AS(judge.listed(1, 11, 12, kBegunLives + 100'000), Contains("silent for 0 ms"), Violation);
}

TEST_CASE("presence: a silence counts if it is over, but not towards a new lead") {
  auto judge = begun();
  judge.heard(11, kBegunLives);
  judge.heard(11, kBegunLives + 100'000);
  judge.heard(11, kBegunLives + 110'000);
  auto other = judge;
  CHECK_NOTHROW(judge.listed(0, 11, 12, kBegunLives + 111'000));
  other.lead_starts(kBegunLives + 110'000);
  CHECK_THROWS_WITH_AS(other.listed(0, 11, 12, kBegunLives + 111'000), Contains("silent for 1 ms"), Violation);
}

TEST_CASE("presence: nobody need be silent for a database that stays, nor for a shard's first") {
  auto judge = begun();
  CHECK_NOTHROW(judge.listed(0, 0, 11, kBegunLives));
  CHECK_NOTHROW(judge.listed(0, 11, 11, kBegunLives));
}

TEST_CASE("presence: the one that had been listed comes back if the other has not been told that it is the shard") {
  const auto place = Contains("another database takes the place of shard 0's");
  const auto back = kBegunLives + 100'000;
  auto judge = begun();
  judge.confirmed(0, 11);
  judge.confirmed(1, 12);
  judge.heard(12, kBegunLives + 50'000);
  judge.listed(0, 11, 12, back);
  judge.heard(12, back);
  auto served = judge;
  served.confirmed(0, 12);
  CHECK_THROWS_WITH_AS(served.listed(0, 12, 11, back), place, Violation);
  auto third = judge;
  CHECK_THROWS_WITH_AS(third.listed(0, 12, 13, back), place, Violation);
  CHECK_NOTHROW(judge.listed(0, 12, 11, back));
}

}  // namespace
}  // namespace ballast::simulation
