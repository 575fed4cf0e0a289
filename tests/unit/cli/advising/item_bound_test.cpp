#include "cli/advising/item_bound.h"

#include <doctest/doctest.h>

#include "cli/advising/foretelling.h"
#include "tests/unit/cli/advising/fleet.h"

namespace ballast {
namespace {

using testing::fleet_of;
using testing::kSlotMicros;
using testing::machine;
using testing::machine_with_link;

Job job_in_items(int megabytes) {
  auto spec = testing::job_of(megabytes).spec;
  spec.training.mode = Mode::async;
  return make_job(spec);
}

double bound(const Job& job, const Fleet& fleet, const Candidate& candidate) {
  return item_bound(foretold_job(job, fleet, candidate, false).times);
}

TEST_CASE("bound by computing, items take as long as all slots over the workers") {
  const auto job = job_in_items(4);
  CHECK(bound(job, fleet_of(machine(), 1, 4), {1, 1, 1}) == doctest::Approx(16 * kSlotMicros).epsilon(0.01));
  CHECK(bound(job, fleet_of(machine(), 1, 4), {1, 1, 4}) == doctest::Approx(4 * kSlotMicros).epsilon(0.01));
}

TEST_CASE("a slow worker makes fewer items, and keeps nobody waiting") {
  auto slow = machine();
  slow.slot->alone = slow.slot->joined = {3 * kSlotMicros};
  auto fleet = fleet_of(machine(), 1, 2);
  fleet.workers.push_back(slow);
  CHECK(bound(job_in_items(4), fleet, {1, 1, 2}) == doctest::Approx(12 * kSlotMicros).epsilon(0.01));
}

TEST_CASE("bound by links, each item takes the whole model both ways") {
  const auto job = job_in_items(8);
  const auto bytes = static_cast<double>(job.arena.elements * sizeof(float));
  auto fleet = fleet_of(machine_with_link(40), 4, 4);
  fleet.server_link = 1e6;
  CHECK(bound(job, fleet, {1, 1, 4}) == doctest::Approx(4 * (kSlotMicros + bytes / 40)).epsilon(0.01));
  fleet.server_link = 40;
  CHECK(bound(job, fleet, {1, 1, 4}) == doctest::Approx(16 * bytes / 40).epsilon(0.01));
  CHECK(bound(job, fleet, {4, 1, 4}) < 0.4 * 16 * bytes / 40);
}

TEST_CASE("weights come while what is behind the first gradient is computed") {
  auto probe = machine_with_link(40);
  probe.slot->ready = {1, 0.5};
  auto fleet = fleet_of(probe, 1, 1);
  fleet.server_link = 1e6;
  const auto job = job_in_items(8);
  const auto bytes = static_cast<double>(job.arena.elements * sizeof(float));
  CHECK(bound(job, fleet, {1, 1, 1}) == doctest::Approx(16 * (0.5 * kSlotMicros + bytes / 40)).epsilon(0.01));
}

TEST_CASE("bound by lanes, each contribution is an update") {
  auto probe = machine();
  probe.lane = LaneProbe{.apply = 0.05};
  const auto job = job_in_items(4);
  const auto bytes = static_cast<double>(job.arena.elements * sizeof(float));
  CHECK(bound(job, fleet_of(probe, 1, 16), {1, 1, 16}) == doctest::Approx(16 * bytes * 0.05).epsilon(0.01));
}

TEST_CASE("the same search says what pays and what limits") {
  const auto found = foretell(job_in_items(1), fleet_of(machine(), 1, 8), false);
  CHECK(found.tried[found.least].candidate == Candidate{1, 1, 8});
  REQUIRE(found.limiting.limit);
  CHECK(found.limiting.limit->what == Bound::compute);
}

}  // namespace
}  // namespace ballast
