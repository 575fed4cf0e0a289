#include "protocol/worker/work_in_hand.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

using Kind = WorkerTarget::Kind;

WorkerTarget training(Step step) { return {Kind::train, {step, 0}, step, {{0, 2}}, {}}; }

// Computes steps of one contribution each.
struct WorkInHandFixture {
  void begin(Step step, Micros at) {
    work.wants(at - 10);
    work.begin(1, training(step), {step, kNoSlot}, nullptr, at);
    work.contributed();
  }

  WorkInHand work;
};

}  // namespace

TEST_CASE("a step's push lasts until its receipt") {
  WorkInHandFixture at;
  at.begin(0, 100);
  CHECK(at.work.is_running());
  at.work.computed({}, 200);
  CHECK_FALSE(at.work.is_running());
  CHECK(at.work.clock().steps() == 0);
  at.work.receipts(0, 1, 1, 230);
  CHECK(at.work.clock().steps() == 1);
  CHECK(at.work.clock().phases().pull == 10);
  CHECK(at.work.clock().phases().push == 30);
}

TEST_CASE("a receipt that comes while the next step is computed is that of the step before") {
  WorkInHandFixture at;
  at.begin(0, 100);
  at.work.computed({}, 200);
  at.work.begin(1, training(1), {1, kNoSlot}, nullptr, 210);
  at.work.receipts(0, 1, 1, 230);
  CHECK(at.work.clock().steps() == 1);
  CHECK(at.work.clock().phases().push == 30);
}

TEST_CASE("a receipt that comes while its own step is computed leaves nothing to wait for") {
  WorkInHandFixture at;
  at.begin(0, 100);
  at.work.receipts(0, 1, 1, 150);
  at.work.computed({}, 200);
  at.begin(1, 300);  // by then the step before is finished
  CHECK(at.work.clock().steps() == 1);
  CHECK(at.work.clock().phases().push == 0);
}

TEST_CASE("what is given up while it is in hand is not to be sent, until something else is") {
  WorkInHand work;
  const WorkerTarget item{Kind::train, {kNewestVersion, {1, 7}}, 2, {{1, 2}}, {}};
  work.begin(1, item, {2, 1}, nullptr, 100);
  CHECK_FALSE(work.drop(2, 0));
  CHECK_FALSE(work.is_dropped());
  CHECK(work.drop(2, 1));
  CHECK(work.is_dropped());
  work.computed({}, 200);
  CHECK_FALSE(work.drop(2, 1));
  work.begin(1, item, {2, 1}, nullptr, 300);
  CHECK_FALSE(work.is_dropped());
}

TEST_CASE("of an item only its own receipts count") {
  WorkInHand work;
  work.begin(1, training(2), {2, 1}, nullptr, 100);
  work.contributed();
  work.computed({}, 200);
  work.receipts(2, 0, 1, 210);
  work.receipts(3, 1, 1, 220);
  CHECK(work.clock().steps() == 0);
  work.receipts(2, 1, 1, 230);
  CHECK(work.clock().steps() == 1);
}

TEST_CASE("an evaluation whose weights are lost does not count, and a training is another matter") {
  WorkInHand work;
  work.begin_evaluation(3, {Kind::evaluate, {2, 0}, 0, {}, {}});
  CHECK(work.timeline() == 3);
  work.discard_evaluation();
  CHECK(work.timeline() == 0);
  work.evaluated();
  work.begin(3, training(0), {0, kNoSlot}, nullptr, 100);
  work.discard_evaluation();
  CHECK(work.timeline() == 3);
}

TEST_CASE("receipts of what a rollback took away are not waited for") {
  WorkInHandFixture at;
  at.begin(0, 100);
  at.work.forget_receipts();
  at.work.computed({}, 200);
  at.begin(1, 300);
  CHECK(at.work.clock().steps() == 1);
}
