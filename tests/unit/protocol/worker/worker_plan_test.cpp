#include "protocol/worker/worker_plan.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

using Kind = WorkerTarget::Kind;
using Ranges = std::vector<SlotRange>;

Assign order(std::uint64_t number, Standing standing, std::optional<StepWork> now = std::nullopt,
             std::optional<Evaluation> evaluation = std::nullopt, Timeline timeline = 1) {
  return {{1, number}, timeline, 1, evaluation, {standing, std::move(now)}, {}};
}

// The plan's next target, and all of it as computed.
void compute(WorkerPlan& plan, Step step, const Ranges& ranges) {
  const auto target = plan.next();
  CHECK(target.step == step);
  CHECK(target.ranges == ranges);
  for (const auto range : ranges) {
    for (auto slot = range.begin; slot < range.end; ++slot) {
      plan.begun(slot);
    }
  }
  plan.computed(target);
}

void check_train(WorkerPlan& plan, Step step, const Ranges& ranges) {
  const auto target = plan.next();
  CHECK(target.kind == Kind::train);
  CHECK(target.weights.version == step);
  CHECK(target.ranges == ranges);
}

}  // namespace

TEST_CASE("a plan without an order has nothing to do") {
  WorkerPlan plan(4);
  CHECK(plan.next().kind == Kind::none);
}

TEST_CASE("a standing order is worked off step by step") {
  WorkerPlan plan(4);
  CHECK(plan.take(order(1, {0, 2, {1, 3}})));
  compute(plan, 0, {{1, 3}});
  compute(plan, 1, {{1, 3}});
  CHECK(plan.next().kind == Kind::none);
  CHECK(plan.take(order(2, {0, 3, {1, 3}})));
  check_train(plan, 2, {{1, 3}});
}

TEST_CASE("an order no newer than the last one is ignored") {
  WorkerPlan plan(4);
  CHECK(plan.take(order(3, {0, 4, {0, 1}})));
  CHECK_FALSE(plan.take(order(3, {0, 4, {0, 2}})));
  CHECK_FALSE(plan.take(order(2, {0, 4, {0, 2}})));
  check_train(plan, 0, {{0, 1}});
}

TEST_CASE("a sign of life, without a timeline, is no order: that whose number it bears may have been lost") {
  WorkerPlan plan(4);
  CHECK_FALSE(plan.take(order(8, {}, std::nullopt, std::nullopt, 0)));
  CHECK(plan.take(order(3, {0, 4, {0, 1}})));
  CHECK(plan.order() == LeadNumber{1, 3});
}

TEST_CASE("which of two orders is newer is told by timeline, then by the lead's life, then by number") {
  const auto is_newer = [](Timeline timeline, LeadNumber number) {
    WorkerPlan plan(4);
    auto known = order(5, {0, 4, {0, 1}}, std::nullopt, std::nullopt, 3);
    known.order.life = 2;
    plan.take(known);
    known.timeline = timeline;
    known.order = number;
    return plan.take(known);
  };
  CHECK(is_newer(3, {2, 6}));
  CHECK_FALSE(is_newer(3, {2, 5}));
  CHECK(is_newer(3, {3, 1}));
  CHECK_FALSE(is_newer(3, {1, 9}));
  CHECK(is_newer(4, {2, 1}));
  CHECK(is_newer(4, {1, 1}));
  CHECK_FALSE(is_newer(2, {3, 9}));
}

TEST_CASE("steps before a newer order keep their ranges") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 6, {0, 2}}));
  plan.take(order(2, {2, 6, {0, 4}}));
  compute(plan, 0, {{0, 2}});
  compute(plan, 1, {{0, 2}});
  check_train(plan, 2, {{0, 4}});
}

TEST_CASE("an order that takes a session's slots away leaves room for one that gives some back") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 6, {}}));
  CHECK(plan.next().kind == Kind::none);
  plan.take(order(2, {3, 6, {2, 4}}));
  check_train(plan, 3, {{2, 4}});
}

TEST_CASE("what is ordered of the open step comes before the standing range, and only what is not done of it") {
  WorkerPlan plan(8);
  plan.take(order(1, {0, 4, {0, 2}}));
  compute(plan, 0, {{0, 2}});
  check_train(plan, 1, {{0, 2}});
  plan.take(order(2, {0, 4, {0, 2}}, StepWork{0, {{1, 5}}}));
  compute(plan, 0, {{2, 5}});
  check_train(plan, 1, {{0, 2}});
}

TEST_CASE("what is done leaves holes in what is ordered") {
  WorkerPlan plan(8);
  plan.take(order(1, {0, 4, {2, 4}}));
  compute(plan, 0, {{2, 4}});
  plan.take(order(2, {0, 4, {2, 4}}, StepWork{0, {{0, 8}}}));
  check_train(plan, 0, {{0, 2}, {4, 8}});
}

EvaluationResult result_of(std::uint32_t item, Version version) {
  EvaluationResult result;
  result.item = item;
  result.version = version;
  return result;
}

TEST_CASE("evaluation comes first, once per item and version") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 0, 2, 0, 10}));
  const auto target = plan.next();
  CHECK(target.kind == Kind::evaluate);
  CHECK(target.weights.version == 2);
  CHECK(target.evaluation == Evaluation{Split::test, 0, 2, 0, 10});
  plan.evaluation().done(result_of(0, 2));
  check_train(plan, 0, {{0, 2}});
  plan.take(order(2, {0, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 0, 2, 0, 10}));
  check_train(plan, 0, {{0, 2}});
  plan.take(order(3, {0, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 1, 2, 10, 20}));
  CHECK(plan.next().kind == Kind::evaluate);
  plan.evaluation().done(result_of(1, 2));
  plan.take(order(4, {0, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 1, 4, 10, 20}));
  CHECK(plan.next().kind == Kind::evaluate);
}

TEST_CASE("an evaluation that ends after its order has changed is not taken for the new one") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 0, 2, 0, 10}));
  CHECK(plan.next().kind == Kind::evaluate);
  plan.take(order(2, {0, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 1, 2, 10, 20}));
  plan.evaluation().done(result_of(0, 2));
  const auto target = plan.next();
  CHECK(target.kind == Kind::evaluate);
  CHECK(target.evaluation.item == 1);
}

TEST_CASE("a version that is gone takes the work that needs it along") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 9, {0, 2}}, StepWork{0, {{2, 4}}}));
  plan.gone({1, 0, 0, 4});
  // A chunk at 4 means that every chunk is at 3 at least.
  check_train(plan, 3, {{0, 2}});
  CHECK(plan.step() == 3);
}

TEST_CASE("a version that is gone leaves newer work alone") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 9, {0, 2}}));
  compute(plan, 0, {{0, 2}});
  compute(plan, 1, {{0, 2}});
  check_train(plan, 2, {{0, 2}});
  plan.take(order(2, {0, 9, {0, 2}}, StepWork{1, {{2, 4}}}));
  plan.gone({1, 0, 0, 2});
  check_train(plan, 1, {{2, 4}});
}

TEST_CASE("evaluations are of averages where the job has them, and training of the weights") {
  WorkerPlan plan(4, {}, true);
  plan.take(order(1, {2, 4, {0, 2}}, std::nullopt, Evaluation{Split::test, 0, 2, 0, 10}));
  const auto evaluation = plan.next();
  CHECK(evaluation.kind == Kind::evaluate);
  CHECK(evaluation.weights == WeightsKey{2, {}, true});
  plan.evaluation().done(result_of(0, 2));
  const auto training = plan.next();
  CHECK(training.kind == Kind::train);
  CHECK(training.weights == WeightsKey{2, {}, false});
}

TEST_CASE("an average that is gone takes its evaluation along, and leaves training alone") {
  WorkerPlan plan(4, {}, true);
  plan.take(order(1, {2, 9, {0, 2}}, std::nullopt, Evaluation{Split::test, 0, 2, 0, 10}));
  CHECK(plan.next().kind == Kind::evaluate);
  plan.gone({1, 0, 2, 3, true});
  check_train(plan, 2, {{0, 2}});
}

TEST_CASE("a new timeline forgets what was done in the older one") {
  WorkerPlan plan(4);
  plan.take(order(1, {0, 4, {0, 2}}));
  compute(plan, 0, {{0, 2}});
  compute(plan, 1, {{0, 2}});
  check_train(plan, 2, {{0, 2}});
  CHECK(plan.take(order(2, {1, 4, {0, 2}}, std::nullopt, std::nullopt, 2)));
  check_train(plan, 1, {{0, 2}});
  CHECK_FALSE(plan.take(order(3, {0, 4, {0, 2}})));
}

TEST_CASE("it tells the step that it means to compute, or of the newest item that it was granted") {
  WorkerPlan rounds(4);
  rounds.take(order(1, {2, 6, {0, 2}}));
  check_train(rounds, 2, {{0, 2}});
  CHECK(rounds.step() == 2);

  WorkerPlan items(4, ItemWork::Rules{});
  CHECK(items.step() == 0);
  auto granted = order(1, {});
  granted.items.grants = {{9, {1, 1}}, {12, {1, 2}}};
  items.take(granted);
  CHECK(items.step() == 3);
  items.computed(items.next());
  items.computed(items.next());
  auto nothing = order(2, {});
  items.take(nothing);
  CHECK(items.step() == 3);
}
