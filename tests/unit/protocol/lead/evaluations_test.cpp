#include "protocol/lead/evaluations.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kLateEvaluations = 100;
constexpr Micros kUnknownEvaluations = 500;

EvaluationRules rules(std::uint32_t validation, std::uint32_t test) {
  EvaluationRules rules;
  rules.steps = 25;
  rules.every = 10;
  rules.validation_examples = validation;
  rules.test_examples = test;
  rules.examples_per_item = 4;
  rules.patience = 2;
  rules.late = {kLateEvaluations, kUnknownEvaluations, kUnknownEvaluations};
  return rules;
}

// One session works off the whole split, with so many right answers in each item.
EvaluationRecord evaluate(Evaluations& evaluations, Split split, Step step, std::uint32_t right) {
  evaluations.begin(split, step);
  while (!evaluations.done()) {
    evaluations.hand_out({7}, {}, 0);
    const auto item = evaluations.ordered_from(7);
    REQUIRE(item);
    evaluations.put(7, {0, split, item->item, step, 1.5 * (item->end - item->begin), right, item->end - item->begin},
                    0);
  }
  return evaluations.end();
}

// The session brings what it was given.
void bring_result(Evaluations& evaluations, SessionId session, Micros now) {
  const auto item = evaluations.ordered_from(session);
  REQUIRE(item);
  const auto examples = item->end - item->begin;
  evaluations.put(session, {0, item->split, item->item, item->version, 1.0 * examples, 0, examples}, now);
}

// All of them have the same time for an item from here on.
Evaluations after_one_evaluation(const std::vector<SessionId>& sessions, Micros time) {
  Evaluations tests(rules(0, static_cast<std::uint32_t>(4 * sessions.size())), {});
  tests.begin(Split::test, 10);
  tests.hand_out(sessions, {}, 0);
  for (const auto session : sessions) {
    bring_result(tests, session, time);
  }
  REQUIRE(tests.done());
  tests.end();
  return tests;
}

}  // namespace

TEST_CASE("a job without evaluations waits at its end only") {
  const Evaluations none(rules(0, 0), {});
  CHECK(none.next_after(0) == 25);
  CHECK_FALSE(none.due(25));
  CHECK(none.ends_at(25));
  CHECK_FALSE(none.ends_at(10));
}

TEST_CASE("what is due comes at each multiple and at the end, validation before test, each once") {
  Evaluations both(rules(8, 6), {});
  CHECK(both.next_after(0) == 10);
  CHECK(both.next_after(10) == 20);
  CHECK(both.next_after(20) == 25);
  CHECK_FALSE(both.due(5));  // a step where the job waits for a snapshot's sake
  CHECK(both.due(10) == Split::validation);
  const auto record = evaluate(both, Split::validation, 10, 3);
  CHECK(record == EvaluationRecord{10, Split::validation, 1.5, 0.75, 8});
  CHECK(both.records() == std::vector{record});
  CHECK_FALSE(both.due(10));  // the test split waits for the end
  evaluate(both, Split::validation, 25, 4);
  CHECK(both.due(25) == Split::test);
  CHECK(evaluate(both, Split::test, 25, 1).examples == 6);
  CHECK_FALSE(both.due(25));
}

TEST_CASE("without a validation split the test split takes its place") {
  Evaluations tests(rules(0, 4), {});
  CHECK(tests.due(10) == Split::test);
  evaluate(tests, Split::test, 10, 1);
  CHECK_FALSE(tests.due(10));
  CHECK(tests.due(20) == Split::test);
}

TEST_CASE("a job that does not improve ends early, and the test split is evaluated there") {
  auto patient = rules(4, 4);
  patient.steps = 100;
  Evaluations both(patient, {});
  evaluate(both, Split::validation, 10, 3);
  evaluate(both, Split::validation, 20, 3);
  CHECK_FALSE(both.ends_at(20));
  CHECK_FALSE(both.due(20));
  evaluate(both, Split::validation, 30, 2);
  CHECK(both.ends_at(30));
  CHECK(both.due(30) == Split::test);
  both.rewind(20);
  CHECK_FALSE(both.ends_at(20));
  CHECK(both.records().back().step == 20);
}

TEST_CASE("an item is given to one session, and to another one when that is lost or late") {
  Evaluations tests(rules(0, 8), {});
  tests.begin(Split::test, 10);
  tests.hand_out({1, 2, 3}, {}, 0);
  CHECK(tests.ordered_from(1)->item == 0);
  CHECK(tests.ordered_from(2)->item == 1);
  CHECK_FALSE(tests.ordered_from(3));
  tests.lose(2);
  tests.hand_out({1, 3}, {}, 1);
  CHECK(tests.ordered_from(3)->item == 1);
  tests.hand_out({1, 3, 4}, {}, kUnknownEvaluations);
  CHECK_FALSE(tests.ordered_from(4));
  tests.hand_out({1, 3, 4}, {}, kUnknownEvaluations + 1);
  CHECK(tests.ordered_from(4)->item == 0);
  tests.rewind(0);
  CHECK_FALSE(tests.ordered_from(4));
}

TEST_CASE("a session that hangs costs an evaluation an item's time and a little, and the next one nothing") {
  auto tests = after_one_evaluation({1, 2, 3}, 40);
  tests.begin(Split::test, 20);
  tests.hand_out({1, 2, 3}, {}, 1'000);
  bring_result(tests, 2, 1'040);
  bring_result(tests, 3, 1'040);
  tests.hand_out({1, 2, 3}, {}, 1'120);
  CHECK_FALSE(tests.ordered_from(2));
  tests.hand_out({1, 2, 3}, {}, 1'121);
  CHECK(tests.ordered_from(2) == tests.ordered_from(1));
  CHECK_FALSE(tests.ordered_from(3));  // one is enough
  bring_result(tests, 2, 1'160);
  CHECK(tests.done());
  CHECK(tests.overtaken() == std::map<SessionId, Micros>{{1, 1'000}});
  tests.end();
  tests.begin(Split::test, 25);
  tests.hand_out({1, 2, 3}, {}, 2'000);
  CHECK_FALSE(tests.ordered_from(1));
  bring_result(tests, 2, 2'040);
  tests.hand_out({1, 2, 3}, {}, 2'040);
  CHECK(tests.ordered_from(2)->item == 2);
  CHECK(tests.ordered_from(1) == tests.ordered_from(2));  // nobody counts on it: it may show that it works
  bring_result(tests, 2, 2'080);
  bring_result(tests, 3, 2'080);
  CHECK(tests.done());
  CHECK(tests.overtaken().size() == 1);
}

TEST_CASE("a session that was overtaken is counted on again once it brings something") {
  auto tests = after_one_evaluation({1, 2}, 40);
  tests.begin(Split::test, 20);
  tests.hand_out({1, 2}, {}, 1'000);
  const auto slow = tests.ordered_from(1).value();
  bring_result(tests, 2, 1'040);
  tests.hand_out({1, 2}, {}, 1'200);
  bring_result(tests, 2, 1'240);
  tests.end();
  REQUIRE(tests.overtaken().contains(1));
  tests.put(1, {0, slow.split, slow.item, slow.version, 1.0, 0, slow.end - slow.begin}, 1'900);
  CHECK(tests.overtaken().empty());
  CHECK(tests.records().size() == 2);
  tests.begin(Split::test, 25);
  tests.hand_out({1, 2}, {}, 2'000);
  CHECK(tests.ordered_from(1)->item == 0);
}

TEST_CASE("a result counts only if the session that brings it holds the item") {
  Evaluations tests(rules(0, 8), {});
  tests.begin(Split::test, 10);
  tests.hand_out({1, 2}, {}, 0);
  const auto of = [](std::uint32_t item, std::uint64_t right) {
    return EvaluationResult{0, Split::test, item, 10, 1.0, right, 4};
  };
  tests.put(7, of(0, 0), 5);  // a stranger's
  tests.put(2, of(0, 0), 5);  // of another's item
  auto of_another_version = of(0, 0);
  of_another_version.version = 20;
  tests.put(1, of_another_version, 5);
  CHECK(tests.ordered_from(1)->item == 0);
  CHECK(tests.overtaken().empty());
  tests.lose(2);
  tests.hand_out({1, 3}, {}, 6);
  REQUIRE(tests.ordered_from(3)->item == 1);
  tests.put(2, of(1, 0), 7);  // late: the item is another's by now
  CHECK_FALSE(tests.done());
  tests.put(3, of(1, 4), 8);
  tests.put(1, of(0, 3), 9);
  REQUIRE(tests.done());
  CHECK(tests.end().accuracy == 7.0 / 8);
}

TEST_CASE("a session that was overtaken is not back for a result that it never had to bring") {
  auto tests = after_one_evaluation({1, 2}, 40);
  tests.begin(Split::test, 20);
  tests.hand_out({1, 2}, {}, 1'000);
  const auto slow = tests.ordered_from(1).value();
  bring_result(tests, 2, 1'040);
  tests.hand_out({1, 2}, {}, 1'200);
  bring_result(tests, 2, 1'240);
  tests.end();
  REQUIRE(tests.overtaken().contains(1));
  tests.put(1, {0, slow.split, slow.item + 1, slow.version, 1.0, 0, 4}, 1'900);
  tests.put(1, {0, slow.split, slow.item, slow.version + 1, 1.0, 0, 4}, 1'900);
  CHECK(tests.overtaken().contains(1));
}

TEST_CASE("those that were overtaken evaluate if there is nobody else") {
  auto tests = after_one_evaluation({1, 2}, 40);
  tests.begin(Split::test, 20);
  tests.hand_out({1, 2}, {}, 1'000);
  bring_result(tests, 2, 1'040);
  tests.hand_out({1, 2}, {}, 1'200);
  bring_result(tests, 2, 1'240);
  tests.end();
  tests.lose(2);
  tests.begin(Split::test, 25);
  tests.hand_out({1}, {}, 2'000);
  CHECK(tests.ordered_from(1)->item == 0);
}

TEST_CASE("an idle session copies what it would bring before its holder, and nothing else") {
  constexpr Micros kSlow = 100'000;
  Evaluations tests(rules(0, 12), {});
  tests.begin(Split::test, 10);
  tests.hand_out({1, 2, 3}, {}, 0);
  bring_result(tests, 2, 10'000);
  bring_result(tests, 3, 10'000);
  bring_result(tests, 1, kSlow);
  tests.end();
  tests.begin(Split::test, 20);
  tests.hand_out({1, 2, 3}, {}, 1'000'000);
  bring_result(tests, 2, 1'010'000);
  tests.hand_out({1, 2, 3}, {}, 1'010'000);
  CHECK(tests.ordered_from(2) == tests.ordered_from(1));
  bring_result(tests, 3, 1'011'000);
  tests.hand_out({1, 2, 3}, {}, 1'011'000);
  CHECK_FALSE(tests.ordered_from(3));  // another one will bring it as soon
  bring_result(tests, 2, 1'020'000);
  tests.end();
  tests.begin(Split::test, 25);
  tests.hand_out({2, 3}, {}, 2'000'000);
  bring_result(tests, 2, 2'010'000);
  tests.hand_out({2, 3}, {}, 2'010'000);
  CHECK(tests.ordered_from(2)->item == 2);
  bring_result(tests, 3, 2'012'000);
  tests.hand_out({2, 3}, {}, 2'012'000);
  CHECK_FALSE(tests.ordered_from(3));
}

TEST_CASE("a suspect gets no item, and what it has goes to others at once") {
  Evaluations tests(rules(0, 8), {});
  tests.begin(Split::test, 10);
  tests.hand_out({1, 2, 3}, {3}, 0);
  CHECK_FALSE(tests.ordered_from(3));
  bring_result(tests, 2, 10);
  tests.hand_out({1, 2, 3}, {1, 3}, 10);
  CHECK(tests.ordered_from(2)->item == 0);
  bring_result(tests, 1, 11);  // it was only slow to speak
  CHECK(tests.done());
  CHECK(tests.overtaken() == std::map<SessionId, Micros>{{2, 10}});
}
