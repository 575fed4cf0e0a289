#include "protocol/worker/ordered_evaluation.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr Evaluation kFirstOrder{Split::test, 0, 2, 0, 10};
constexpr Evaluation kSecondOrder{Split::test, 1, 2, 10, 20};

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
  evaluation.take(kFirstOrder);
  REQUIRE(evaluation.next() != nullptr);
  evaluation.done(result_of(kFirstOrder));
  CHECK(evaluation.next() == nullptr);
  evaluation.take(kFirstOrder);
  CHECK(evaluation.next() == nullptr);
  CHECK(evaluation.result() == result_of(kFirstOrder));
  evaluation.take(kSecondOrder);
  CHECK(*evaluation.next() == kSecondOrder);
  CHECK_FALSE(evaluation.result());
}

TEST_CASE("what ends after its order has changed is not taken for the new one") {
  OrderedEvaluation evaluation;
  evaluation.take(kFirstOrder);
  evaluation.take(kSecondOrder);
  evaluation.done(result_of(kFirstOrder));
  CHECK(*evaluation.next() == kSecondOrder);
}

TEST_CASE("what was evaluated from weights that a shard has lost is evaluated again") {
  OrderedEvaluation evaluation;
  evaluation.take(kFirstOrder);
  evaluation.done(result_of(kFirstOrder));
  evaluation.again();
  CHECK(*evaluation.next() == kFirstOrder);
  CHECK_FALSE(evaluation.result());
}

TEST_CASE("a version that is gone is not evaluated, and an order of another timeline is a new one") {
  OrderedEvaluation evaluation;
  evaluation.take(kFirstOrder);
  evaluation.gone(1);
  CHECK(evaluation.next() != nullptr);
  evaluation.gone(2);
  CHECK(evaluation.next() == nullptr);
  evaluation.take(kFirstOrder);
  evaluation.done(result_of(kFirstOrder));
  evaluation.forget_order();
  evaluation.take(kFirstOrder);
  CHECK(*evaluation.next() == kFirstOrder);
}
