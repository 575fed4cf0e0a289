#include "protocol/lead/evaluation.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ballast;

namespace {
EvaluationResult result(const Evaluation& evaluation, double loss, std::uint64_t correct) {
  return {1, evaluation.split, evaluation.item, evaluation.version, loss, correct, evaluation.end - evaluation.begin};
}
}  // namespace

TEST_CASE("the items cover the test split exactly once") {
  for (std::uint32_t examples = 0; examples <= 30; ++examples) {
    for (std::uint32_t size = 1; size <= 12; ++size) {
      EvaluationBoard board(Split::test, 3, examples, size);
      std::uint32_t next = 0;
      SessionId session = 1;
      while (const auto item = board.take(session++)) {
        CHECK(item->version == 3);
        CHECK(item->begin == next);
        CHECK(item->end - item->begin <= size);
        next = item->end;
      }
      CHECK(next == examples);
      CHECK(board.done() == (examples == 0));
    }
  }
}

TEST_CASE("an item's result counts once, whoever brings it") {
  EvaluationBoard board(Split::test, 1, 10, 5);
  const auto first = board.take(1).value();
  const auto second = board.take(2).value();
  CHECK(board.put(result(first, 10, 3)));
  CHECK_FALSE(board.put(result(first, 99, 0)));
  CHECK_FALSE(board.done());
  CHECK(board.put(result(second, 30, 2)));
  CHECK(board.done());
  CHECK(board.total().loss == 4.0);
  CHECK(board.total().accuracy == 0.5);
}

TEST_CASE("counts and sums of all items become metrics, whatever the order in which they come") {
  const MetricRules rules{.top5 = false, .classes = 2, .scores = false, .likelihood = true, .errors = false};
  const auto total_of = [&](std::vector<std::uint32_t> order) {
    EvaluationBoard board(Split::test, 1, 10, 5, rules);
    const std::vector items = {board.take(1).value(), board.take(2).value()};
    for (const auto item : order) {
      auto own = result(items[item], 10, 3);
      own.counts = item == 0 ? std::vector<std::uint64_t>{5, 0, 2, 3, 3, 1, 2, 2}
                             : std::vector<std::uint64_t>{5, 0, 1, 1, 1, 3, 4, 4};
      own.sums = {item == 0 ? 0.1 : 0.2, 0, 0};
      CHECK(board.put(own));
    }
    return board.total();
  };
  const auto total = total_of({0, 1});
  REQUIRE(total.metrics.size() == 4);
  CHECK(total.metrics[1].kind == MetricKind::recall);
  CHECK(total.metrics[1].value == doctest::Approx((3.0 / 4 + 4.0 / 6) / 2));
  CHECK(total.metrics[3].value == std::exp((0.1 + 0.2) / 10));
  CHECK(total_of({1, 0}).metrics == total.metrics);
}

TEST_CASE("a result that counts something else than the job is not counted") {
  EvaluationBoard board(Split::test, 1, 10, 5, {.top5 = true});
  const auto item = board.take(1).value();
  auto wrong = result(item, 1, 1);
  CHECK_FALSE(board.put(wrong));
  wrong.counts = {5, 1, 1};
  CHECK_FALSE(board.put(wrong));
  wrong.counts = {5, 1};
  wrong.sums = {1, 1, 1};
  CHECK_FALSE(board.put(wrong));
  wrong.sums = {};
  wrong.counts = {5, 6};
  CHECK_FALSE(board.put(wrong));
  wrong.counts = {std::uint64_t{6} << 32U, 1};
  CHECK_FALSE(board.put(wrong));
  wrong.counts = {5, 1};
  CHECK(board.put(wrong));
}

TEST_CASE("a result that cannot be is not counted") {
  EvaluationBoard board(Split::test, 1, 10, 5);
  const auto item = board.take(1).value();
  auto wrong = result(item, 1, 1);
  wrong.version = 2;
  CHECK_FALSE(board.put(wrong));
  wrong = result(item, 1, 1);
  wrong.item = 2;
  CHECK_FALSE(board.put(wrong));
  wrong = result(item, 1, 1);
  wrong.examples = 4;
  CHECK_FALSE(board.put(wrong));
  CHECK_FALSE(board.put(result(item, 1, 6)));
  CHECK_FALSE(board.done());
}

TEST_CASE("the sum is taken in the items' order, not in that of arrival") {
  const double losses[] = {1e16, 1.0, -1e16, 1.0};
  double expected = 0;
  for (const auto loss : losses) {
    expected += loss;
  }
  EvaluationBoard board(Split::test, 1, 4, 1);
  std::vector<Evaluation> items;
  for (SessionId session = 1; session <= 4; ++session) {
    items.push_back(board.take(session).value());
  }
  for (const auto i : {2U, 0U, 3U, 1U}) {
    board.put(result(items[i], losses[i], 0));
  }
  CHECK(board.total().loss == expected / 4);
}

TEST_CASE("an item that two sessions hold is done for both with the first result") {
  EvaluationBoard board(Split::test, 1, 2, 1);
  const auto first = board.take(1).value();
  const auto second = board.take(2).value();
  CHECK_FALSE(board.has_free());
  CHECK_FALSE(board.take(3).has_value());
  board.take_changed();
  board.copy(first.item, 3);
  CHECK(board.take_changed() == std::set<SessionId>{3});
  CHECK(board.ordered_from(3) == first);
  CHECK(board.ordered_from(1) == first);
  CHECK(board.holders(first.item) == std::vector<SessionId>{1, 3});
  CHECK(board.put(result(first, 1, 1)));
  CHECK_FALSE(board.put(result(first, 1, 1)));
  CHECK(board.take_changed() == std::set<SessionId>{1, 3});
  CHECK_FALSE(board.ordered_from(1));
  CHECK_FALSE(board.ordered_from(3));
  CHECK(board.holders(first.item).empty());
  CHECK(board.held() == EvaluationBoard::Held{{second.item, {2}}});
}

TEST_CASE("a lost session's item is free at once, unless another one holds it") {
  EvaluationBoard board(Split::test, 1, 1, 1);
  const auto item = board.take(1).value();
  board.copy(item.item, 2);
  board.lose(1);
  CHECK_FALSE(board.has_free());
  CHECK(board.ordered_from(2) == item);
  board.lose(2);
  CHECK(board.take(3).value() == item);
}
