#include "server/page/lateness.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("a byte tells microseconds from minutes") {
  CHECK(Lateness::code_of(0) == 1);
  std::uint8_t before = 0;
  for (Micros late = 50; late < 200'000'000; late = late * 3 / 2) {
    CHECK(Lateness::code_of(late) >= before);
    before = Lateness::code_of(late);
  }
  CHECK(Lateness::code_of(~Micros{0} / 2) == Lateness::kLongest);
}

TEST_CASE("a worker is late by its first contribution after anybody's first") {
  Lateness lateness;
  lateness.contributed(7, 1, 0, 1'000'000);
  lateness.contributed(8, 1, 0, 1'030'000);
  lateness.contributed(8, 1, 0, 1'090'000);  // a further one
  lateness.contributed(7, 1, 1, 2'000'000);
  const auto part = lateness.read(0);
  REQUIRE(part.columns.size() == 2);
  CHECK(part.columns[0].first == 0);
  CHECK(part.columns[0].began == 1'000'000);
  CHECK(part.columns[0].ended == 2'000'000);
  CHECK(part.columns[0].codes == std::vector<std::uint8_t>{1, Lateness::code_of(30'000)});
  CHECK(part.columns[1].codes == std::vector<std::uint8_t>{1});  // who has no part in it yet is absent
  CHECK(part.columns[1].ended == 0);
  CHECK(lateness.rows() == std::vector<SessionId>{7, 8});
}

TEST_CASE("short steps share a column, which has the largest lateness of each worker") {
  Lateness lateness;
  for (Step step = 0; step < 100; ++step) {
    lateness.contributed(7, 1, step, step * 10'000);
    lateness.contributed(8, 1, step, step * 10'000 + (step == 20 ? 5'000 : 10));
  }
  const auto part = lateness.read(0);
  REQUIRE(part.columns.size() == 2);
  CHECK(part.columns[0].last == 49);
  CHECK(part.columns[0].codes[1] == Lateness::code_of(5'000));
  CHECK(part.columns[1].first == 50);
  CHECK(part.columns[1].codes[1] == Lateness::code_of(10));
}

TEST_CASE("who is at a step that others have left is a step behind") {
  Lateness lateness;
  lateness.contributed(7, 1, 4, 100);
  lateness.contributed(7, 1, 5, 200);
  lateness.contributed(8, 1, 4, 300);
  CHECK(lateness.read(0).columns.back().codes == std::vector<std::uint8_t>{1, Lateness::kStepBehind});
}

TEST_CASE("a job that was taken back counts steps again") {
  Lateness lateness;
  lateness.contributed(7, 1, 9, 100);
  lateness.contributed(7, 2, 3, 200);
  lateness.contributed(8, 2, 3, 260);
  const auto part = lateness.read(0);
  REQUIRE(part.columns.size() == 2);
  CHECK(part.columns[1].first == 3);
  CHECK(part.columns[1].codes[1] == Lateness::code_of(60));
}

TEST_CASE("columns and rows are bounded, and a row that another worker has forgets the one before") {
  Lateness lateness;
  constexpr Step kSteps = Lateness::kColumns + 50;
  for (Step step = 0; step < kSteps; ++step) {
    for (SessionId session = 1; session <= Lateness::kRows; ++session) {
      lateness.contributed(session, 1, step, step * Lateness::kEach + session);
    }
  }
  CHECK(lateness.columns() == kSteps);
  CHECK(lateness.read(0).from == 50);
  CHECK(lateness.read(0).columns.size() == Lateness::kColumns);
  CHECK(lateness.read(kSteps - 1).columns.size() == 1);
  CHECK(lateness.read(kSteps + 9).columns.empty());
  lateness.contributed(9999, 1, kSteps, kSteps * Lateness::kEach);
  const auto rows = lateness.rows();
  REQUIRE(rows.size() == Lateness::kRows);
  CHECK(rows[0] == 9999);
  CHECK(lateness.read(0).columns.front().codes[0] == Lateness::kAbsent);
  CHECK(lateness.read(0).columns.front().codes[1] != Lateness::kAbsent);
}

}  // namespace
}  // namespace ballast
