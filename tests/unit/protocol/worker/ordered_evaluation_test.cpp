#include "protocol/worker/ordered_evaluation.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Evaluation kFirst{Split::test, 0, 2, 0, 10};
constexpr Evaluation kSecond{Split::test, 1, 2, 10, 20};

EvaluationResult result_of(const Evaluation& evaluation) {
  EvaluationResult result;
  result.split = evaluation.split;
  result.item = evaluation.item;
  result.version = evaluation.version;
  return result;
}

}  // namespace

TEST_CASE("an item is evaluated once, and its result kept while the orders have it") {
  OrderedEvaluation evaluation;
  CHECK(evaluation.next() == nullptr);
  evaluation.take(kFirst);
  REQUIRE(evaluation.next() != nullptr);
  evaluation.done(result_of(kFirst));
  CHECK(evaluation.next() == nullptr);
  evaluation.take(kFirst);
  CHECK(evaluation.next() == nullptr);
  CHECK(evaluation.result() == result_of(kFirst));
  evaluation.take(kSecond);
  CHECK(*evaluation.next() == kSecond);
  CHECK_FALSE(evaluation.result());
}

TEST_CASE("what ends after its order has changed is not taken for the new one") {
  OrderedEvaluation evaluation;
  evaluation.take(kFirst);
  evaluation.take(kSecond);
  evaluation.done(result_of(kFirst));
  CHECK(*evaluation.next() == kSecond);
}

TEST_CASE("what was evaluated from weights that a shard has lost is evaluated again") {
  OrderedEvaluation evaluation;
  evaluation.take(kFirst);
  evaluation.done(result_of(kFirst));
  evaluation.again();
  CHECK(*evaluation.next() == kFirst);
  CHECK_FALSE(evaluation.result());
}

TEST_CASE("a version that is gone is not evaluated, and an order of another timeline is a new one") {
  OrderedEvaluation evaluation;
  evaluation.take(kFirst);
  evaluation.gone(1);
  CHECK(evaluation.next() != nullptr);
  evaluation.gone(2);
  CHECK(evaluation.next() == nullptr);
  evaluation.take(kFirst);
  evaluation.done(result_of(kFirst));
  evaluation.forget_order();
  evaluation.take(kFirst);
  CHECK(*evaluation.next() == kFirst);
}
