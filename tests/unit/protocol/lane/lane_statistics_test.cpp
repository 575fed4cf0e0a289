#include "protocol/lane/lane_statistics.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

std::vector<Step> steps(const LaneStatistics& statistics, std::size_t most = 100) {
  std::vector<Step> steps;
  for (const auto& of_one : statistics.oldest(most)) {
    steps.push_back(of_one.step);
  }
  return steps;
}

}  // namespace

TEST_CASE("a step that comes as a whole is passed on as it is") {
  LaneStatistics statistics(true, 1);
  statistics.begin(3);
  statistics.add({3, 0.5F, 2, 8});
  REQUIRE(statistics.oldest(9).size() == 1);
  CHECK(statistics.oldest(9)[0] == StepStatistics{3, 0.5F, 2, 8});
}

TEST_CASE("a step's parts are summed, and steps are passed on in their order when they are whole") {
  LaneStatistics statistics(true, 2);
  statistics.begin(0);
  statistics.add({1, 0.25F, 1, 4});
  statistics.add({1, 0.5F, 2, 4});
  statistics.add({0, 0.25F, 1, 4});
  CHECK(steps(statistics).empty());
  statistics.add({0, 0, 0, 0});  // of an item that is left out
  CHECK(steps(statistics) == std::vector<Step>{0, 1});
  CHECK(statistics.oldest(9)[1] == StepStatistics{1, 0.75F, 3, 8});
  CHECK(steps(statistics, 1) == std::vector<Step>{0});
}

TEST_CASE("what the lead has is told no more") {
  LaneStatistics statistics(true, 1);
  statistics.begin(0);
  for (const Step step : {0, 1, 2}) {
    statistics.add({step, 0, 0, 1});
  }
  statistics.confirmed(2);
  CHECK(steps(statistics) == std::vector<Step>{2});
  statistics.clear();
  CHECK(steps(statistics).empty());
}

TEST_CASE("a lane awaits the statistics of the steps before its open one if it has their chunk") {
  LaneStatistics statistics(true, 1);
  statistics.begin(5);
  CHECK_FALSE(statistics.awaits(5));
  CHECK(statistics.awaits(6));
  statistics.add({5, 0, 0, 1});
  CHECK_FALSE(statistics.awaits(6));
  CHECK(statistics.awaits(7));
  LaneStatistics others(false, 1);
  CHECK_FALSE(others.awaits(6));
}

TEST_CASE("where the steps begin anew, parts of before count no more") {
  LaneStatistics statistics(true, 2);
  statistics.begin(0);
  statistics.add({2, 0.5F, 0, 1});
  statistics.begin(2);
  statistics.add({2, 0.25F, 0, 1});
  CHECK(steps(statistics).empty());
  statistics.add({2, 0.25F, 0, 1});
  REQUIRE(statistics.oldest(9).size() == 1);
  CHECK(statistics.oldest(9)[0].loss == 0.5F);
}
