#include "protocol/lead/evaluations.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Micros kLateEvaluations = 100;

EvaluationRules rules(std::uint32_t validation, std::uint32_t test) {
  EvaluationRules rules;
  rules.steps = 25;
  rules.every = 10;
  rules.validation_examples = validation;
  rules.test_examples = test;
  rules.examples_per_item = 4;
  rules.patience = 2;
  rules.late = kLateEvaluations;
  return rules;
}

// One session works off the whole split, with so many right answers in each item.
EvaluationRecord evaluate(Evaluations& evaluations, Split split, Step step, std::uint32_t right) {
  evaluations.begin(split, step);
  while (!evaluations.done()) {
    evaluations.hand_out({7}, 0);
    const auto item = evaluations.ordered_from(7);
    REQUIRE(item);
    evaluations.put({0, split, item->item, step, 1.5 * (item->end - item->begin), right, item->end - item->begin});
  }
  return evaluations.end();
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
  tests.hand_out({1, 2, 3}, 0);
  CHECK(tests.ordered_from(1)->item == 0);
  CHECK(tests.ordered_from(2)->item == 1);
  CHECK_FALSE(tests.ordered_from(3));
  tests.lose(2);
  tests.hand_out({1, 3}, 1);
  CHECK(tests.ordered_from(3)->item == 1);
  tests.hand_out({4}, kLateEvaluations);
  CHECK(tests.ordered_from(4)->item == 0);
  tests.rewind(0);
  CHECK_FALSE(tests.ordered_from(4));
}
