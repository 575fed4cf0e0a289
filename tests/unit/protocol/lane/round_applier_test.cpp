#include "protocol/lane/round_applier.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// Two slots a step; chunk 3, and chunk 5 of the statistics.
LaneConfig round_config(std::uint64_t event_bytes = 1'000) {
  LaneConfig config;
  config.slots = 2;
  config.steps = 4;
  config.chunks = {{5, 40, true}, {3, 100, false}};
  config.event_bytes = event_bytes;
  return config;
}

FactorPlan round_plan(Version end, bool skips = false) {
  FactorPlan plan;
  std::vector<StepFactors> factors(end);
  for (auto& of_one : factors) {
    of_one.skip = skips;
  }
  plan.extend(0, factors, 0);
  return plan;
}

Push round_push(Step step, ChunkId chunk, Node node = {0, 2}) { return {1, step, chunk, node, false, kNoSlot, {}}; }

RoundApplier begun_round(const LaneConfig& of = round_config()) {
  RoundApplier applier(of);
  applier.begin(0, 1);
  return applier;
}

// The whole step comes at once, and is measured.
ApplierOutcome round(RoundApplier& applier, Step step, ChunkId chunk, const FactorPlan& plan, bool finite = true) {
  const auto offered = applier.offer(9, round_push(step, chunk), 10 + chunk, plan);
  REQUIRE(offered.measure.has_value());
  return applier.measured({{chunk, step, {}, finite, 0, kNoSlot}, offered.measure->root}, plan);
}

LaneReport told(const RoundApplier& applier) {
  LaneReport report;
  applier.tell(report);
  return report;
}

}  // namespace

TEST_CASE("siblings are summed, and their sum is measured when the round is covered") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  auto offered = applier.offer(9, round_push(0, 3, {1, 2}), 1, known);
  CHECK(offered.receipt == ReceiptOutcome::accepted);
  CHECK(offered.actions.empty());
  CHECK_FALSE(offered.measure.has_value());
  CHECK(applier.held_payloads() == 1);

  offered = applier.offer(9, round_push(0, 3, {1, 2}), 2, known);
  CHECK(offered.receipt == ReceiptOutcome::duplicate);
  REQUIRE(offered.actions.size() == 1);
  CHECK(std::get<lane::Drop>(offered.actions[0]).payload == 2);

  offered = applier.offer(8, round_push(0, 3, {0, 1}), 3, known);
  REQUIRE(offered.actions.size() == 1);
  const auto& sum = std::get<lane::Sum>(offered.actions[0]);
  CHECK(sum.join.into == 3);
  CHECK(sum.join.with == 1);
  CHECK(sum.last);
  REQUIRE(offered.measure.has_value());
  CHECK(offered.measure->root == 3);
  CHECK(applier.counters().accepted == 2);
  CHECK(applier.counters().duplicates == 1);
}

TEST_CASE("what cannot have been computed from any version is refused") {
  auto applier = begun_round();
  CHECK(applier.offer(9, round_push(1, 3), 1, round_plan(4)).refused.has_value());
  CHECK(applier.offer(9, round_push(4, 3), 1, round_plan(4)).refused.has_value());
  CHECK(applier.held_payloads() == 0);
}

// Its sender lacks the weights of the chunk that is behind.
TEST_CASE("no chunk of a lane is brought two versions ahead of another") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  round(applier, 0, 3, known);
  const auto offered = applier.offer(9, round_push(1, 3), 77, known);
  REQUIRE(offered.refused.has_value());
  CHECK(offered.refused->code == RefusalCode::out_of_range);
  CHECK(offered.refused->text.find("oldest chunk is at version 0 of 4") != std::string::npos);
  CHECK(applier.held_payloads() == 0);
  round(applier, 0, 5, known);
  round(applier, 1, 3, known);
  CHECK(applier.open_step() == 1);
}

TEST_CASE("a report names some of those who brought a chunk to the newest version") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  CHECK(told(applier).rounds.reached_by.empty());
  applier.offer(7, round_push(0, 3, {0, 1}), 1, known);
  const auto offered = applier.offer(8, round_push(0, 3, {1, 2}), 2, known);
  applier.measured({{3, 0, {}, true, 0, kNoSlot}, offered.measure.value().root}, known);
  CHECK(told(applier).rounds.reached == 1);
  CHECK(told(applier).rounds.reached_by == std::vector<SessionId>{7, 8});
  round(applier, 0, 5, known);
  round(applier, 1, 5, known);
  CHECK(told(applier).rounds.reached_by == std::vector<SessionId>{9});
  applier.forget();
  applier.begin(1, 1);
  CHECK(told(applier).rounds.reached_by.empty());
}

TEST_CASE("a measured round with factors is applied, and the step opens when every chunk is") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  auto outcome = round(applier, 0, 3, known);
  REQUIRE(outcome.applied.size() == 1);
  const auto& update = outcome.applied[0];
  CHECK(update.apply.chunk == 3);
  CHECK(update.apply.version == 0);
  CHECK_FALSE(update.apply.statistics);
  CHECK(update.served.oldest == 0);
  CHECK(update.served.newest == 1);
  CHECK(update.at_step == Step{1});
  CHECK(update.contributors.empty());
  CHECK_FALSE(update.opened.has_value());
  CHECK(applier.open_step() == 0);
  CHECK(applier.is_past(0));
  CHECK(applier.chunks_at(1).size() == 1);
  LaneReport report;
  applier.tell(report);
  CHECK(report.rounds.reached == 1);

  outcome = round(applier, 0, 5, known);
  REQUIRE(outcome.applied.size() == 1);
  CHECK(outcome.applied[0].apply.statistics);
  CHECK(outcome.applied[0].contributors == std::vector<SessionId>{9, 9});
  REQUIRE(outcome.applied[0].opened.has_value());
  CHECK(outcome.applied[0].opened->step == 1);
  CHECK(applier.open_step() == 1);
}

TEST_CASE("without factors a round waits, and the lead has to know when all chunks do") {
  auto applier = begun_round();
  CHECK_FALSE(round(applier, 0, 3, round_plan(0)).report);
  const auto outcome = round(applier, 0, 5, round_plan(0));
  CHECK(outcome.report);
  CHECK(outcome.applied.empty());
  CHECK(told(applier).measures.size() == 2);
  CHECK(applier.counters().waited_for_factors == 2);
  CHECK(applier.planned(round_plan(1)).applied.size() == 2);
  CHECK_FALSE(applier.has_more());
  CHECK(told(applier).measures.empty());
}

TEST_CASE("for one event so many bytes are applied, and the rest when the lane goes on") {
  auto applier = begun_round(round_config(1));
  round(applier, 0, 3, round_plan(0));
  round(applier, 0, 5, round_plan(0));
  CHECK(applier.planned(round_plan(1)).applied.size() == 1);
  CHECK(applier.has_more());
  CHECK(applier.go_on(round_plan(1)).applied.size() == 1);
  CHECK(applier.go_on(round_plan(1)).applied.empty());
  CHECK_FALSE(applier.has_more());
}

TEST_CASE("a gradient that is not finite waits for the lead's word, which skips its step") {
  auto applier = begun_round();
  auto faulty = round_push(0, 3);
  faulty.fault = 1;
  applier.offer(9, faulty, 1, round_plan(4));
  const auto outcome = applier.measured({{3, 0, {}, false, 0, kNoSlot}, 1}, round_plan(4));
  CHECK(outcome.report);
  CHECK(outcome.applied.empty());
  REQUIRE(told(applier).measures.size() == 1);
  CHECK(told(applier).measures[0].slot == 1);
  CHECK(applier.planned(round_plan(4)).applied.empty());
  CHECK(applier.planned(round_plan(4, true)).applied.size() == 1);
}

TEST_CASE("where updates are measured, a covered round waits for the prospect of its version") {
  auto config = round_config(1);
  config.measures_updates = true;
  auto applier = begun_round(config);
  auto known = round_plan(0);
  CHECK_FALSE(applier.offer(9, round_push(0, 3), 13, known).measure);
  CHECK_FALSE(applier.offer(9, round_push(0, 5), 15, known).measure);
  CHECK(applier.planned(known).actions.empty());
  known.foresee(0, Prospect{4, 0.5F});
  // As many for one event as may be applied, and each once.
  auto outcome = applier.planned(known);
  REQUIRE(outcome.actions.size() == 1);
  const auto first = std::get<lane::Measure>(outcome.actions[0]);
  CHECK(first.chunk == 3);
  CHECK(first.root == 13);
  CHECK(first.prospect == Prospect{4, 0.5F});
  CHECK(applier.has_more());
  outcome = applier.go_on(known);
  REQUIRE(outcome.actions.size() == 1);
  CHECK(std::get<lane::Measure>(outcome.actions[0]).chunk == 5);
  CHECK(applier.go_on(known).actions.empty());
  CHECK(applier.planned(known).actions.empty());
  CHECK(applier.go_on(known).actions.empty());
  CHECK_FALSE(applier.measured({{3, 0, {1, 2}, true, 0, kNoSlot}, 13}, known).report);
  CHECK(applier.measured({{5, 0, {}, true, 0, kNoSlot}, 15}, known).report);
  known.extend(0, std::vector<StepFactors>(1), 0);
  CHECK(applier.planned(known).applied.size() == 1);
  CHECK(applier.go_on(known).applied.size() == 1);
  // Of the next version at once, if its prospect has come with the factors.
  known.foresee(1, Prospect{6, 0.5F});
  const auto offered = applier.offer(9, round_push(1, 3), 23, known);
  REQUIRE(offered.measure);
  CHECK(offered.measure->prospect == Prospect{6, 0.5F});
}

TEST_CASE("a measure of a root that is applied, or of no chunk of the lane, says nothing") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  CHECK(applier.measured({{3, 0, {}, true, 0, kNoSlot}, 13}, known).applied.empty());
  round(applier, 0, 3, known);
  CHECK(applier.measured({{3, 0, {}, true, 0, kNoSlot}, 13}, known).applied.empty());
  CHECK(applier.measured({{7, 1, {}, true, 0, kNoSlot}, 13}, known).applied.empty());
}

TEST_CASE("a measure of a root that was given up is not taken for that of the one in its place") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  applier.offer(9, round_push(0, 3), 1, known);
  applier.forget();
  applier.begin(0, 1);
  applier.offer(9, round_push(0, 3), 2, known);
  CHECK(applier.measured({{3, 0, {}, true, 0, kNoSlot}, 1}, known).applied.empty());
  CHECK(applier.measured({{3, 0, {}, true, 0, kNoSlot}, 2}, known).applied.size() == 1);
}

TEST_CASE("between a root and its measure anything may come") {
  auto applier = begun_round();
  applier.offer(9, round_push(0, 3), 1, round_plan(0));
  CHECK(applier.offer(8, round_push(0, 3), 2, round_plan(0)).receipt == ReceiptOutcome::duplicate);
  CHECK(applier.planned(round_plan(4)).applied.empty());
  CHECK(applier.go_on(round_plan(4)).applied.empty());
  CHECK(applier.measured({{3, 0, {}, true, 0, kNoSlot}, 1}, round_plan(4)).applied.size() == 1);
}

TEST_CASE("with another timeline all contributions are given up, and older versions are of no use") {
  auto applier = begun_round();
  const auto known = round_plan(4);
  round(applier, 0, 3, known);
  round(applier, 0, 5, known);
  applier.offer(9, round_push(1, 3, {0, 1}), 77, known);
  CHECK(applier.forget() == std::vector<PayloadId>{77});
  CHECK(applier.held_payloads() == 0);
  applier.begin(2, 1);
  CHECK(applier.open_step() == 2);
  REQUIRE(applier.served(3).has_value());
  CHECK(applier.served(3)->oldest == 2);
  CHECK(applier.served(3)->newest == 2);
  CHECK_FALSE(applier.served(4).has_value());
  CHECK(told(applier).rounds.missing == std::vector<std::uint64_t>{3});
}

TEST_CASE("a lane without chunks holds nobody up") {
  auto none = round_config();
  none.chunks.clear();
  CHECK(begun_round(none).open_step() == 4);
}
