#include "protocol/worker/round_work.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// Steps of 4 slots; the session's standing range in all of them.
struct RoundWorkFixture {
  RoundWorkFixture() { work.take({{1, 1}, 1, 1, {}, {{0, 6, {0, 2}}, {}}, {}}, true); }

  RoundWork work{4, {}};
};

}  // namespace

TEST_CASE("the next version is asked for along with a gradient if the standing range goes on, and once") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  CHECK(at.work.next_key(target, {}) == WeightsKey{1, {}});
  CHECK(at.work.next_key(target, WeightsKey{0, {}}) == WeightsKey{1, {}});
  CHECK_FALSE(at.work.next_key(target, WeightsKey{1, {}}));
  CHECK(at.work.after(target) == SlotsAhead{1, {{0, 2}}});
}

TEST_CASE("after extra work of an older step no newer version is asked for: it is there") {
  RoundWorkFixture at;
  at.work.computed(*at.work.next());
  at.work.take({{1, 2}, 1, 1, {}, {{0, 6, {0, 2}}, Extra{0, {2, 4}}}, {}}, false);
  const auto target = *at.work.next();
  CHECK(target.step == 0);
  CHECK_FALSE(at.work.next_key(target, {}));
}

TEST_CASE("a session without slots of its own is where its extra work is, and forgets what it did before") {
  RoundWork work{4, {}};
  work.take({{1, 1}, 1, 1, {}, {{0, 90, {}}, {}}, {}}, true);
  CHECK_FALSE(work.next().has_value());
  std::size_t kept = 0;
  for (Step step = 0; step < 80; ++step) {
    work.take({{1, 2 + step}, 1, 1, {}, {{0, 90, {}}, Extra{step, {2, 4}}}, {}}, false);
    const auto target = work.next();
    REQUIRE(target.has_value());
    CHECK(target->step == step);
    CHECK(work.step() == step);
    work.computed(*target);
    CHECK_FALSE(work.next().has_value());
    std::size_t values = 0;
    listed::walk(work, [&](listed::Kind, const auto&) { ++values; });
    CHECK((step < 10 || values == kept));
    kept = values;
  }
}

TEST_CASE("where the standing range ends nothing is asked for") {
  RoundWorkFixture at;
  at.work.take({{1, 2}, 1, 1, {}, {{1, 6, {}}, {}}, {}}, false);
  const auto target = *at.work.next();
  CHECK_FALSE(at.work.next_key(target, {}));
  CHECK_FALSE(at.work.after(target));
}

TEST_CASE("receipts of a round are those of its step or a newer one, and a newer version is one for all before") {
  RoundWorkFixture at;
  const auto scope = at.work.scope(*at.work.next());
  CHECK(scope.contains(0, 3));
  CHECK(scope.contains(1, kNoSlot));
  CHECK(RoundWork::covered_by(4) == 4);
  CHECK(RoundWork::computed_from(8) == 0);
  CHECK(RoundWork::updates(3) == 3);
}
