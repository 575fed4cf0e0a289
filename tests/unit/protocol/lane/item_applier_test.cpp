#include "protocol/lane/item_applier.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// Two slots a step; chunk 3, and chunk 5 of the statistics.
LaneConfig item_rules_config(ItemRules rules = {}, std::uint64_t event_bytes = 1'000) {
  LaneConfig config;
  config.slots = 2;
  config.steps = 3;
  config.chunks = {{3, 100, false}, {5, 40, true}};
  config.event_bytes = event_bytes;
  config.items = rules;
  return config;
}

FactorPlan version_plan(Version end) {
  FactorPlan plan;
  std::vector<StepFactors> factors(end);
  for (auto& of_one : factors) {
    of_one.learning_rate = 1;
  }
  plan.extend(0, factors, 0);
  return plan;
}

ItemApplier begun(const LaneConfig& of = item_rules_config()) {
  ItemApplier applier(of);
  applier.begin(0, 6);
  return applier;
}

Push item_push(ItemId item, ChunkId chunk, Version base = 0) {
  const auto slot = static_cast<Slot>(item % 2);
  return {1, item / 2, chunk, {slot, slot + 1}, false, kNoSlot, {}, base, {}, {{0, 4, 12}}};
}

// Comes and is measured.
ApplierOutcome item(ItemApplier& applier, ItemId item, ChunkId chunk, Version base = 0, bool finite = true) {
  const auto known = version_plan(6);
  const auto offered = applier.offer(9, item_push(item, chunk, base), 100 + item, known);
  REQUIRE(offered.measure.has_value());
  return applier.measured({{chunk, item / 2, {}, finite, 0, kNoSlot}, offered.measure->root}, known);
}

LaneReport told(const ItemApplier& applier) {
  LaneReport report;
  applier.tell(report);
  return report;
}

}  // namespace

TEST_CASE("an item is applied as it comes, once, and opens a step when all chunks have all before") {
  auto applier = begun();
  for (const ItemId each : {1, 0}) {
    CHECK(item(applier, each, 3).applied.size() == 1);
  }
  CHECK(applier.open_step() == 0);
  CHECK(applier.chunks_at(1).size() == 1);
  CHECK(item(applier, 0, 5).applied[0].apply.statistics);
  const auto outcome = item(applier, 1, 5);
  REQUIRE(outcome.applied.size() == 1);
  CHECK(outcome.applied[0].at_step == Step{1});
  REQUIRE(outcome.applied[0].opened.has_value());
  CHECK(outcome.applied[0].opened->step == 1);
  CHECK(outcome.applied[0].opened->passed == 2);
  CHECK(outcome.applied[0].answers.size() == 1);
  CHECK(applier.covered_items() == 2);

  const auto again = applier.offer(8, item_push(1, 5), 7, version_plan(6));
  CHECK(again.receipt == ReceiptOutcome::duplicate);
  CHECK_FALSE(again.measure.has_value());
}

TEST_CASE("a journaled item waits for its commit, and everyone who sent it is answered then") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  const auto outcome = item(applier, 0, 3);
  REQUIRE(outcome.actions.size() == 1);
  CHECK(std::get<lane::Append>(outcome.actions[0]).ticket == 1);
  CHECK(outcome.applied.empty());
  CHECK(applier.held_payloads() == 1);
  const auto again = applier.offer(8, item_push(0, 3), 7, version_plan(6));
  CHECK_FALSE(again.receipt.has_value());
  CHECK(again.actions.size() == 1);

  const auto committed = applier.committed(1, 40, version_plan(6));
  REQUIRE(committed.applied.size() == 1);
  REQUIRE(committed.applied[0].answers.size() == 2);
  CHECK(committed.applied[0].answers[0].outcome == ReceiptOutcome::accepted);
  CHECK(committed.applied[0].answers[1].session == 8);
  CHECK(committed.applied[0].answers[1].outcome == ReceiptOutcome::duplicate);
  CHECK(applier.journal_sequence() == 40);
  CHECK(told(applier).items.marks == std::vector<JournalMark>{{0, 4, 12}});
}

TEST_CASE("for one commit so many bytes are applied, and the rest when the lane goes on") {
  auto applier = begun(item_rules_config({0, false, false, true}, 1));
  item(applier, 0, 3);
  item(applier, 1, 3);
  CHECK(applier.committed(2, 9, version_plan(6)).applied.size() == 1);
  CHECK(applier.has_more());
  CHECK(applier.go_on(version_plan(6)).applied.size() == 1);
  CHECK_FALSE(applier.has_more());
}

TEST_CASE("what is too stale is told so, counted from the version after all that is accepted") {
  auto applier = begun(item_rules_config({1, false, false, true}));
  item(applier, 0, 3);
  item(applier, 1, 3);
  const auto outcome = item(applier, 2, 3);
  REQUIRE(outcome.answers.size() == 1);
  CHECK(outcome.answers[0].outcome == ReceiptOutcome::expired);
  CHECK(std::get<lane::Drop>(outcome.actions.at(0)).payload == 102);
  CHECK(applier.counters().staleness.expired == 1);
  CHECK(applier.counters().staleness.largest == 1);
}

TEST_CASE(
    "what is no item, and what was computed from nothing is refused; what the plan does not allow yet may come again") {
  auto applier = begun();
  const auto code = [&](const Push& push, Version planned) {
    const auto offered = applier.offer(9, push, 7, version_plan(planned));
    return offered.refused ? offered.refused->code : RefusalCode::wrong_job;
  };
  CHECK(applier.offer(9, item_push(2, 3), 7, version_plan(2)).receipt == ReceiptOutcome::not_yet);
  CHECK(code(item_push(0, 3, 1), 6) == RefusalCode::out_of_range);
  CHECK(code(item_push(6, 3), 6) == RefusalCode::out_of_range);
  auto both = item_push(0, 3);
  both.node = {0, 2};
  CHECK(code(both, 6) == RefusalCode::out_of_range);
}

TEST_CASE("marks count of what is accepted, not of what was there already") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  auto same = item_push(0, 3);
  item(applier, 0, 3);
  same.items.marks = {{0, 99, 1'000}};
  CHECK_FALSE(applier.offer(9, same, 7, version_plan(6)).refused.has_value());
  applier.committed(1, 40, version_plan(6));
  CHECK(applier.offer(9, same, 8, version_plan(6)).receipt == ReceiptOutcome::duplicate);
  CHECK(told(applier).items.marks == std::vector<JournalMark>{{0, 4, 12}});
}

TEST_CASE("a contribution that rests on a shard that the job does not have is refused") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  auto strange = item_push(0, 3);
  strange.items.marks.push_back({1, 4, 12});
  const auto offered = applier.offer(9, strange, 7, version_plan(6));
  REQUIRE(offered.refused.has_value());
  CHECK(offered.refused->code == RefusalCode::out_of_range);
  CHECK(offered.refused->text == "chunk 3, step 0: rests on a shard that is not one of the job's 1");
  CHECK(told(applier).items.marks.empty());
}

TEST_CASE("a contribution from a version that was lost is refused for good, and its marks do not count") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  for (const Version planned : {6, 0}) {  // whatever the plan says
    const auto offered = applier.offer(9, item_push(0, 3, 5), 7, version_plan(planned));
    CHECK(offered.receipt == ReceiptOutcome::expired);
    REQUIRE(offered.actions.size() == 1);
    CHECK(std::get<lane::Drop>(offered.actions[0]).payload == 7);
    CHECK_FALSE(offered.measure.has_value());
  }
  CHECK(applier.counters().staleness.expired == 2);
  CHECK(told(applier).items.marks.empty());
  const auto never = applier.offer(9, item_push(0, 3, 7), 7, version_plan(6));  // the job ends with version 6
  REQUIRE(never.refused.has_value());
  CHECK(never.refused->code == RefusalCode::out_of_range);
}

TEST_CASE("a chunk that has the item says so, whatever version it comes from") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  item(applier, 0, 3);
  const auto waits = applier.offer(8, item_push(0, 3, 5), 7, version_plan(6));
  CHECK_FALSE(waits.receipt.has_value());
  CHECK_FALSE(waits.refused.has_value());
  const auto committed = applier.committed(1, 40, version_plan(6));
  REQUIRE(committed.applied.at(0).answers.size() == 2);
  CHECK(committed.applied[0].answers[1].outcome == ReceiptOutcome::duplicate);
  CHECK(applier.offer(8, item_push(0, 3, 5), 7, version_plan(6)).receipt == ReceiptOutcome::duplicate);
  CHECK(applier.counters().staleness.expired == 0);
}

TEST_CASE("what rests on a life whose mark finds no room is refused for good, and no mark is forgotten") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  const auto known = version_plan(6);
  const auto resting_on = [&](ItemId item, std::vector<JournalMark> marks) {
    auto resting = item_push(item, 3);
    resting.items.marks = std::move(marks);
    const auto offered = applier.offer(9, resting, 100 + item, known);
    REQUIRE(offered.measure.has_value());
    return applier.measured({{3, item / 2, {}, true, 0, kNoSlot}, offered.measure->root}, known);
  };
  std::vector<JournalMark> all;
  for (Incarnation life = 1; life <= kMaxShardLives; ++life) {
    all.push_back({0, life, 10});
  }
  CHECK(resting_on(0, all).answers.empty());
  CHECK(told(applier).items.marks == all);
  const auto outcome = resting_on(1, {{0, kMaxShardLives + 1, 3}});
  REQUIRE(outcome.answers.size() == 1);
  CHECK(outcome.answers[0].outcome == ReceiptOutcome::expired);
  CHECK(std::get<lane::Drop>(outcome.actions.at(0)).payload == 101);
  CHECK(told(applier).items.marks == all);
  all.back().sequence = 11;
  CHECK(resting_on(1, {all.back()}).answers.empty());
  CHECK(told(applier).items.marks == all);
}

TEST_CASE("what is not finite is left out where the job says so, and otherwise told to the lead") {
  auto skipping = begun(item_rules_config({0, false, true, false}));
  const auto skipped = item(skipping, 0, 3, 0, false);
  REQUIRE(skipped.applied.size() == 1);
  CHECK(skipped.applied[0].apply.factors.skip);
  CHECK(skipping.counters().staleness.skipped == 1);

  auto halting = begun();
  const auto halted = item(halting, 0, 3, 0, false);
  CHECK(halted.report);
  CHECK(halted.applied.empty());
  CHECK(told(halting).measures.size() == 1);
}

TEST_CASE("the step is damped by the staleness where the job says so") {
  auto applier = begun(item_rules_config({0, true, false, false}));
  item(applier, 0, 3);
  item(applier, 1, 3);
  const auto outcome = item(applier, 2, 3);
  REQUIRE(outcome.applied.size() == 1);
  CHECK(outcome.applied[0].apply.factors.learning_rate == 0.5F);
}

TEST_CASE("a timeline begins with a life of its own, and pending items of the one before are given up") {
  auto applier = begun(item_rules_config({0, false, false, true}));
  item(applier, 0, 3);
  CHECK(applier.forget() == std::vector<PayloadId>{100});
  CHECK(applier.lives().empty());
  CHECK(applier.held_payloads() == 0);
  applier.begin(1, 8);
  CHECK(applier.lives() == std::vector<ShardLife>{{8, 0}});
  CHECK(applier.covered_items() == 2);
  CHECK(applier.committed(1, 70, version_plan(6)).applied.empty());
  CHECK(applier.journal_sequence() == 0);
}

TEST_CASE("a shard that goes on knows the items of its journal") {
  ItemApplier applier(item_rules_config({0, false, false, true}));
  const auto resumed = applier.resume({4, 1, {{3, 2, {}}, {5, 2, {0, 0.5F, 1, 4}}, {3, 5, {}}}, {{1, 2, 3}}, 33});
  CHECK(resumed.planned_from == 3);
  REQUIRE(resumed.statistics.size() == 1);
  CHECK(resumed.statistics[0].step == 1);
  CHECK(applier.served(3)->newest == 4);
  CHECK(told(applier).items.reached == 6);
  CHECK(told(applier).items.marks == std::vector<JournalMark>{{1, 2, 3}});
  CHECK(applier.journal_sequence() == 33);
}

TEST_CASE("of those who sent what has expired, who computed it from newer weights is to send it again") {
  auto applier = begun(item_rules_config({1, false, false, false}));
  const auto known = version_plan(6);
  applier.offer(9, item_push(2, 3), 3, known);
  item(applier, 0, 3);
  item(applier, 1, 3);
  CHECK_FALSE(applier.offer(8, item_push(2, 3, 2), 4, known).receipt);
  const auto outcome = applier.measured({{3, 1, {}, true, 0, kNoSlot}, 3}, known);
  REQUIRE(outcome.answers.size() == 2);
  CHECK(outcome.answers[0].outcome == ReceiptOutcome::expired);
  CHECK(outcome.answers[1].session == 8);
  CHECK(outcome.answers[1].outcome == ReceiptOutcome::not_yet);
  CHECK(item(applier, 2, 3, 2).applied.size() == 1);
}

TEST_CASE("between an item and its measure anything may come") {
  auto applier = begun(item_rules_config({1, false, false, false}));
  const auto known = version_plan(6);
  const auto measured = [&](ItemId item, PayloadId root) {
    return applier.measured({{3, item / 2, {}, true, 0, kNoSlot}, root}, known);
  };
  applier.offer(9, item_push(0, 3), 1, known);
  applier.offer(9, item_push(1, 3), 2, known);
  applier.offer(9, item_push(2, 3), 3, known);
  CHECK(applier.held_payloads() == 3);
  const auto again = applier.offer(8, item_push(1, 3), 4, known);
  CHECK(std::get<lane::Drop>(again.actions.at(0)).payload == 4);
  CHECK_FALSE(again.measure.has_value());

  const auto second = measured(1, 2);  // which gets the first version
  REQUIRE(second.applied.size() == 1);
  CHECK(second.applied[0].apply.version == 0);
  CHECK(second.applied[0].answers.size() == 2);
  CHECK(measured(0, 1).applied.at(0).apply.version == 1);
  CHECK(measured(2, 3).answers.at(0).outcome == ReceiptOutcome::expired);
  CHECK(measured(2, 3).answers.empty());
  CHECK(applier.held_payloads() == 0);

  applier.offer(9, item_push(3, 3, 2), 5, known);
  CHECK(applier.forget() == std::vector<PayloadId>{5});
  applier.begin(0, 7);
  CHECK(measured(3, 5).applied.empty());
}
