#include "protocol/worker/round_work.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// Steps of 4 slots; the session's standing range in all of them.
struct RoundWorkFixture {
  RoundWorkFixture() { order({0, 6, {0, 2}}); }

  void order(const Standing& standing, std::optional<StepWork> now = std::nullopt) {
    const bool begins = ++orders == 1;
    work.take({{1, orders}, 1, 1, {}, {standing, std::move(now)}, {}}, begins);
  }
  void begin(SlotRange slots) {
    for (auto slot = slots.begin; slot < slots.end; ++slot) {
      work.begun(slot);
    }
  }
  // The next target, and all of it as computed.
  WorkerTarget compute() {
    auto target = *work.next();
    for (const auto range : target.ranges) {
      begin(range);
    }
    work.computed(target);
    return target;
  }

  RoundWork work{4, {}};
  std::uint64_t orders = 0;
};

using Ready = std::vector<SlotRange>;

}  // namespace

TEST_CASE("the next version is asked for along with a gradient if the standing range goes on, and once") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  CHECK(at.work.next_key(target, {}) == WeightsKey{1, {}});
  CHECK(at.work.next_key(target, WeightsKey{0, {}}) == WeightsKey{1, {}});
  CHECK_FALSE(at.work.next_key(target, WeightsKey{1, {}}));
  CHECK(at.work.after(target) == SlotsAhead{1, {{0, 2}}});
}

TEST_CASE("after work of an older step no newer version is asked for: it is there") {
  RoundWorkFixture at;
  at.compute();
  CHECK(at.work.next()->step == 1);
  at.order({0, 6, {0, 2}}, StepWork{0, {{2, 4}}});
  const auto target = *at.work.next();
  CHECK(target.step == 0);
  CHECK_FALSE(at.work.next_key(target, {}));
}

TEST_CASE("a session without slots of its own is where it is ordered to, and forgets what it did before") {
  RoundWorkFixture at;
  at.order({0, 90, {}});
  CHECK_FALSE(at.work.next().has_value());
  std::size_t kept = 0;
  for (Step step = 0; step < 80; ++step) {
    at.order({0, 90, {}}, StepWork{step, {{2, 4}}});
    const auto target = at.compute();
    CHECK(target.step == step);
    CHECK(at.work.step() == step);
    CHECK_FALSE(at.work.next().has_value());
    std::size_t values = 0;
    listed::walk(at.work, [&](listed::Kind, const auto&) { ++values; });
    CHECK((step < 10 || values == kept));
    kept = values;
  }
}

TEST_CASE("what is ordered of the open step replaces the standing range there, and nothing is left of steps before") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{1, {{3, 4}, {0, 1}}});
  auto target = at.compute();
  CHECK(target.step == 1);
  CHECK(target.ranges == Ready{{3, 4}, {0, 1}});
  target = at.compute();
  CHECK(target.step == 2);
  CHECK(target.ranges == Ready{{0, 2}});
}

TEST_CASE("an order for no slots of the open step leaves the standing ranges of the steps after it") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{0, {}});
  const auto target = *at.work.next();
  CHECK(target.step == 1);
  CHECK(target.ranges == Ready{{0, 2}});
}

TEST_CASE("an order for one step says nothing of another") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{0, {{2, 4}}});
  CHECK(at.compute().ranges == Ready{{2, 4}});
  CHECK(at.compute().ranges == Ready{{0, 2}});  // of step 1
  at.order({0, 6, {0, 2}});                     // without one for the open step
  CHECK(at.work.next()->step == 2);
}

TEST_CASE("what a newer division gives it of a step that it has left is computed, unless the step is updated") {
  for (const bool is_updated : {false, true}) {
    RoundWorkFixture at;
    at.compute();
    at.work.begins({WorkerTarget::Kind::train, {1, 0}, 1, {}, {}});
    CHECK(at.compute().step == 1);
    CHECK(at.work.next()->step == 2);
    if (is_updated) {
      at.work.begins(*at.work.next());
    }
    at.order({1, 6, {0, 4}});
    const auto target = *at.work.next();
    CHECK(target.step == (is_updated ? 2 : 1));
    CHECK(target.ranges == (is_updated ? Ready{{0, 4}} : Ready{{2, 4}}));
  }
}

TEST_CASE("a slot that is ordered twice is computed once") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{0, {{1, 3}, {0, 4}}});
  CHECK(at.work.next()->ranges == Ready{{1, 3}, {0, 1}, {3, 4}});
}

TEST_CASE("a computation in hand is amended if its slots have become others, and once") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  at.begin({0, 1});
  CHECK_FALSE(at.work.amend(target));
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 1}}});
  CHECK(at.work.amend(target) == Ready{{0, 1}});
  CHECK_FALSE(at.work.amend(target));
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 1}, {3, 4}}});
  CHECK(at.work.amend(target) == Ready{{0, 1}, {3, 4}});
}

TEST_CASE("an order that names no open step gives nothing back of the one that was named before") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  at.begin({0, 1});
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 1}}});
  CHECK(at.work.amend(target) == Ready{{0, 1}});
  at.order({0, 1, {0, 2}});
  CHECK_FALSE(at.work.amend(target));
  at.work.computed(target);
  CHECK_FALSE(at.work.next().has_value());
}

TEST_CASE("a computation of a step that is not open any more is amended to nothing") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  at.begin({0, 1});
  at.order({0, 6, {0, 2}}, StepWork{1, {{0, 2}}});
  CHECK(at.work.amend(target) == Ready{});
  at.work.computed(target);
  CHECK(at.work.next()->step == 1);
}

TEST_CASE("what a computation has begun is done when it ends, and no more than that") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 4}}});
  const auto target = *at.work.next();
  at.begin({0, 2});
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 2}}});  // the rest is another's
  CHECK(at.work.amend(target) == Ready{{0, 2}});
  at.work.computed(target);
  CHECK(at.work.begun_of(0).runs() == Ready{{0, 2}});
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 4}}});  // and is given back
  CHECK(at.work.next()->step == 0);
  CHECK(at.work.next()->ranges == Ready{{2, 4}});
}

TEST_CASE("slots that were taken back after they had been begun are not computed again") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  at.begin({0, 2});
  at.order({0, 6, {0, 2}}, StepWork{0, {}});
  at.work.amend(target);
  at.work.computed(target);
  at.order({0, 6, {0, 2}}, StepWork{0, {{0, 3}}});
  CHECK(at.work.next()->ranges == Ready{{2, 3}});
}

TEST_CASE("what has been begun of a step is told while it is computed and after it") {
  RoundWorkFixture at;
  const auto target = *at.work.next();
  CHECK(at.work.begun_of(0).empty());
  at.begin({0, 1});
  CHECK(at.work.begun_of(0).runs() == Ready{{0, 1}});
  at.begin({1, 2});
  at.work.computed(target);
  CHECK(at.work.begun_of(0).runs() == Ready{{0, 2}});
  CHECK(at.work.begun_of(1).empty());
}

TEST_CASE("work of the open step whose version is gone is given up") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{2, {{2, 4}}});
  auto newer = at.work;
  at.work.gone(1, 3);  // of a step before
  CHECK(at.work.next()->step == 2);
  newer.gone(2, 4);
  CHECK(newer.next()->step == 3);
  CHECK(newer.next()->ranges == Ready{{0, 2}});
}

TEST_CASE("what an order says of a step long before the cursor's is computed once") {
  RoundWorkFixture at;
  at.order({5, 9, {0, 2}}, StepWork{0, {{2, 4}}});
  CHECK(at.compute().step == 0);
  at.order({5, 9, {}}, StepWork{0, {{2, 4}}});
  at.order({5, 9, {0, 2}}, StepWork{0, {{2, 4}}});
  for (int turn = 0; turn < 3; ++turn) {
    const auto target = at.work.next();
    CHECK((!target || target->step > 0));
  }
}

TEST_CASE("an order for a step before that whose weights are all here is for nobody, as often as it is told") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 2}}, StepWork{0, {{2, 4}}});
  CHECK(at.compute().step == 0);
  const auto target = *at.work.next();
  CHECK(target.step == 1);
  at.work.begins(target);
  at.order({0, 6, {0, 2}}, StepWork{0, {{1, 2}, {2, 4}}});
  at.begin({0, 2});
  at.work.computed(target);
  CHECK(at.work.next()->step == 2);
  at.order({0, 6, {0, 2}}, StepWork{1, {{2, 3}}});  // the step itself may be open
  CHECK(at.work.next()->ranges == Ready{{2, 3}});
}

TEST_CASE("where the standing range ends nothing is asked for") {
  RoundWorkFixture at;
  at.order({1, 6, {}});
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

TEST_CASE("what a lead of version 13 orders of a step comes before the standing range that the step has") {
  RoundWorkFixture at;
  at.order({2, 6, {0, 4}}, StepWork{0, {{3, 4}}, true});
  CHECK(at.compute().ranges == Ready{{3, 4}, {0, 2}});
  auto target = at.compute();
  CHECK(target.step == 1);
  CHECK(target.ranges == Ready{{0, 2}});
  target = at.compute();
  CHECK(target.step == 2);
  CHECK(target.ranges == Ready{{0, 4}});
}

TEST_CASE("a session without slots of its own goes on at its first ones after what a lead of version 13 ordered") {
  RoundWorkFixture at;
  at.order({0, 6, {}}, StepWork{3, {{2, 4}}, true});
  CHECK(at.compute().ranges == Ready{{2, 4}});
  CHECK_FALSE(at.work.next());
  at.order({5, 9, {1, 2}});
  const auto target = at.compute();
  CHECK(target.step == 5);
  CHECK(target.ranges == Ready{{1, 2}});
}

TEST_CASE("slots that are given up are computed again when the computation has ended, whichever it was that had them") {
  RoundWorkFixture at;
  at.order({0, 6, {0, 4}});
  const auto target = *at.work.next();
  at.work.begins(target);
  at.work.begun(0);
  at.work.begun(1);
  at.work.give_up(0, {0, 1});
  CHECK(at.work.begun_of(0).runs() == Ready{{1, 2}});
  CHECK_FALSE(at.work.amend(target));  // that computation has taken the slot
  at.work.begun(2);
  at.work.begun(3);
  at.work.computed(target);
  const auto again = *at.work.next();
  CHECK(again.step == 0);
  CHECK(again.ranges == Ready{{0, 1}});
  at.work.begins(again);
  at.work.begun(0);
  at.work.give_up(0, {2, 4});  // of the one before: this one takes them as well
  CHECK(at.work.amend(again) == Ready{{0, 1}, {2, 4}});
}
