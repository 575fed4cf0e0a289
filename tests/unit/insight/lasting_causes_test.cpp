#include "insight/lasting_causes.h"

#include <doctest/doctest.h>

namespace ballast::insight {
namespace {

constexpr std::size_t kWhole = 20;

Finding costs(double cost, const std::string& who = "worker a", Cause cause = Cause::compute) {
  return {cause, who, 2, cost, cost, 0};
}

// Windows of twenty steps, one after the other.
std::vector<WindowVerdict> of(const std::vector<std::vector<Finding>>& found) {
  std::vector<WindowVerdict> windows;
  for (const auto& each : found) {
    const auto first = 20 * windows.size();
    windows.push_back({{first, first + 19}, {20, 100, 100, 1, each}});
  }
  return windows;
}

TEST_CASE("lasting causes: what costs more than three percent in two of three windows raises an alarm") {
  CHECK(lasting_causes({}, kWhole).empty());
  for (const auto& found : std::vector<std::vector<std::vector<Finding>>>{{{costs(1.05)}, {}, {costs(1.04)}},
                                                                          {{}, {costs(1.05)}, {costs(1.04)}},
                                                                          {{costs(1.05)}, {costs(1.04)}, {}}}) {
    const auto all = lasting_causes(of(found), kWhole);
    REQUIRE(all.size() == 1);
    CHECK(all[0].alarms);
    CHECK(all[0].persists);
    CHECK(all[0].costs == 2);
  }
  for (const auto& found : std::vector<std::vector<std::vector<Finding>>>{
           {{}, {}, {costs(1.5)}}, {{costs(1.02)}, {costs(1.02)}, {costs(1.5)}}}) {
    const auto all = lasting_causes(of(found), kWhole);
    REQUIRE(all.size() == 1);
    CHECK_FALSE(all[0].alarms);
    CHECK_FALSE(all[0].persists);
  }
}

TEST_CASE("lasting causes: what passes raises one in a single window, where it costs more than five percent") {
  const auto stop = [](double cost) { return costs(cost, "worker a", Cause::passing); };
  CHECK_FALSE(lasting_causes(of({{}, {}, {stop(1.045)}}), kWhole)[0].alarms);
  const auto all = lasting_causes(of({{}, {stop(1.06)}, {}}), kWhole);
  REQUIRE(all.size() == 1);
  CHECK(all[0].alarms);
  CHECK_FALSE(all[0].persists);
  CHECK(all[0].is_over);
}

TEST_CASE("lasting causes: windows that are cut short by a change raise no alarm, but show what lasts") {
  auto windows = of({{}, {costs(1.2)}, {costs(1.3)}});
  windows[1].window.first += 8;
  const auto all = lasting_causes(windows, kWhole);
  REQUIRE(all.size() == 1);
  CHECK(all[0].persists);
  CHECK_FALSE(all[0].alarms);
  CHECK(all[0].since == 28);
}

TEST_CASE("lasting causes: since when, and until when") {
  const auto all = lasting_causes(
      of({{costs(1.2), costs(1.1, "worker b")}, {costs(1.2)}, {costs(1.4), costs(1.2, "worker c")}}), kWhole);
  REQUIRE(all.size() == 3);
  CHECK(all[0].finding.who == "worker a");
  CHECK(all[0].finding.cost == 1.4);
  CHECK(all[0].since == 0);
  CHECK(all[0].costs == 3);
  CHECK(all[1].finding.who == "worker c");
  CHECK(all[1].since == 40);
  CHECK_FALSE(all[1].is_over);
  CHECK(all[2].finding.who == "worker b");
  CHECK(all[2].is_over);
  CHECK(all[2].window.last == 19);
  // A gap between: the run until now counts.
  CHECK(lasting_causes(of({{costs(1.2)}, {}, {costs(1.2)}}), kWhole)[0].since == 40);
}

TEST_CASE("lasting causes: the same worker with two causes has two") {
  const auto all = lasting_causes(of({{costs(1.2), costs(1.1, "worker a", Cause::worker_link)}}), kWhole);
  CHECK(all.size() == 2);
}

}  // namespace
}  // namespace ballast::insight
