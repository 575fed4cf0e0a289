#include "protocol/lead/ledger_book.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("nothing is durable before it is said to be written, and one change is written at a time") {
  LedgerBook book({}, 0);
  CHECK_FALSE(book.next(0));
  book.edit().timeline = 1;
  const auto first = book.next(0);
  REQUIRE(first);
  CHECK(first->ledger.timeline == 1);
  CHECK(book.durable().timeline == 0);
  book.edit().timeline = 2;
  CHECK_FALSE(book.next(0));
  book.written();
  CHECK(book.durable().timeline == 1);
  REQUIRE(book.next(0));
  book.written();
  CHECK(book.durable().timeline == 2);
  CHECK_FALSE(book.next(0));
}

TEST_CASE("an evaluation is written once the change with it is, whatever is being written then") {
  LedgerBook book({}, 0);
  book.edit().timeline = 1;
  REQUIRE(book.next(0));
  CHECK(book.evaluations_written());
  book.add(EvaluationRecord{});
  CHECK_FALSE(book.evaluations_written());
  book.written();
  CHECK_FALSE(book.evaluations_written());
  REQUIRE(book.next(0));
  book.edit().timeline = 2;
  CHECK_FALSE(book.evaluations_written());
  book.written();
  CHECK(book.evaluations_written());
}

TEST_CASE("statistics wait for a change of the record or a flush, evaluations do not") {
  LedgerBook book({}, 0);
  book.add(StepStatistics{0, 1, 1, 1});
  CHECK_FALSE(book.next(0));
  book.flush();
  const auto change = book.next(0);
  REQUIRE(change);
  CHECK(change->statistics.size() == 1);
  CHECK(book.statistics_through() == 0);
  book.written();
  CHECK(book.statistics_through() == 1);
  book.flush();
  CHECK_FALSE(book.next(0));
  book.add(EvaluationRecord{1, Split::test, 0, 0, 5});
  CHECK(book.next(0));
}

TEST_CASE("trimming forgets what is not written yet, and says what to forget of what is") {
  LedgerBook book({}, 0);
  for (Step step = 0; step < 4; ++step) {
    book.add(StepStatistics{step, 1, 1, 1});
  }
  book.add(EvaluationRecord{2, Split::test, 0, 0, 5});
  book.add(EvaluationRecord{3, Split::test, 0, 0, 5});
  book.trim(2);
  book.trim(3);
  const auto change = book.next(0);
  REQUIRE(change);
  CHECK(change->trim_from == 2);
  CHECK(change->statistics.size() == 2);
  REQUIRE(change->evaluations.size() == 1);
  CHECK(change->evaluations[0].step == 2);
  book.written();
  CHECK(book.statistics_through() == 2);
}
