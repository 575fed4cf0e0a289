#include "cli/advising/foretold_job.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/unit/cli/advising/fleet.h"

namespace ballast {
namespace {

using testing::fleet_of;
using testing::job_of;
using testing::kSlotMicros;
using testing::machine;
using testing::machine_with_link;

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST_CASE("a foretold job has all bytes of the model, on the lanes that a server would give them") {
  const auto job = job_of(8);
  const auto found = foretold_job(job, fleet_of(machine(), 2, 4), {2, 2, 4}, false).times;
  CHECK(sum_of(found.bytes) == doctest::Approx(static_cast<double>(job.arena.elements * sizeof(float))));
  CHECK(found.lanes.size() == 4);
  CHECK(found.shards.size() == 2);
  std::vector<double> by_lane(4);
  for (std::size_t chunk = 0; chunk < found.bytes.size(); ++chunk) {
    by_lane[found.lane_of[chunk]] += found.bytes[chunk];
  }
  for (const auto bytes : by_lane) {
    CHECK(bytes > 1'000'000);
  }
  CHECK(found.rules.slots == 16);
  CHECK(found.rules.chunks == found.bytes.size());
  CHECK(found.workers.size() == 4);
}

TEST_CASE("a model of many chunks is replayed as fewer and larger ones, each on one lane") {
  const auto job = job_of(600);
  const auto found = foretold_job(job, fleet_of(machine(), 4, 2), {4, 2, 2}, false).times;
  CHECK(found.bytes.size() <= 2 * 256);
  CHECK(found.bytes.size() >= 128);
  CHECK(sum_of(found.bytes) == doctest::Approx(static_cast<double>(job.arena.elements * sizeof(float))));
}

TEST_CASE("slots are drawn from what was measured, those that are added to others from theirs") {
  auto probe = machine();
  probe.slot->alone = {10, 20};
  probe.slot->joined = {100, 200};
  const auto found = foretold_job(job_of(1), fleet_of(probe, 1, 2), {1, 1, 2}, false).times;
  bool differ = false;
  for (const auto& worker : found.workers) {
    for (const auto& step : worker.slots) {
      REQUIRE(step.size() >= 8);
      CHECK((step[0] == 10 || step[0] == 20));
      for (std::size_t i = 1; i < step.size(); ++i) {
        CHECK((step[i] == 100 || step[i] == 200));
      }
      differ = differ || step != worker.slots[0];
    }
  }
  CHECK(differ);
  CHECK(found.workers[0].slots != found.workers[1].slots);
}

TEST_CASE("machines are as their probes, counted round") {
  auto slow = machine();
  slow.slot->alone = slow.slot->joined = {3 * kSlotMicros};
  auto fleet = fleet_of(machine(), 1, 3);
  fleet.workers.push_back(slow);
  const auto found = foretold_job(job_of(1), fleet, {1, 1, 3}, false).times;
  CHECK(found.workers[0].slot == kSlotMicros);
  CHECK(found.workers[1].slot == 3 * kSlotMicros);
  CHECK(found.workers[2].slot == kSlotMicros);
}

TEST_CASE("a link that was measured is taken, one connection's where there is one lane, and half of its round trip") {
  auto probe = machine_with_link(100);
  probe.links[0].up_of_one = 60;
  const auto fleet = fleet_of(probe, 1, 2);
  const auto one = foretold_job(job_of(2), fleet, {1, 1, 2}, false).times.workers[0];
  CHECK(one.up == 60);
  CHECK(one.down == 100);
  CHECK(one.delay == 50);
  CHECK(foretold_job(job_of(2), fleet, {1, 2, 2}, false).times.workers[0].up == 100);
  CHECK(foretold_job(job_of(2), fleet_of(machine(), 1, 2), {1, 1, 2}, false).times.workers[0].up == 0);
}

TEST_CASE("a server's link is what is declared, else what was seen of any; shards of one machine share it") {
  auto fleet = fleet_of(machine_with_link(100), 1, 2);
  CHECK(server_rates(fleet).in == 100);
  auto times = foretold_job(job_of(4), fleet, {2, 1, 2}, false).times;
  CHECK(times.servers.in == 100);
  CHECK(times.shards[0].in == 0);
  fleet.server_machines = 2;
  times = foretold_job(job_of(4), fleet, {4, 1, 2}, false).times;
  CHECK(times.servers.in == 0);
  CHECK(times.shards[3].in == 50);
  fleet.server_link = 400;
  CHECK(server_rates(fleet).out == 400);
  CHECK(foretold_job(job_of(4), fleet, {2, 1, 2}, false).times.shards[1].out == 400);
  fleet.is_one_machine = true;
  CHECK(server_rates(fleet).in == 0);
}

TEST_CASE("lanes that have less than a processor each take as much longer") {
  auto probe = machine();
  probe.lane->sum = 1e-3;
  probe.lane->wire = 0;
  probe.lane->wire_message = 0;
  auto found = foretold_job(job_of(4), fleet_of(probe, 1, 1), {1, 2, 1}, false).times;
  const auto sum = sum_of(found.sum);
  const auto apply = sum_of(found.apply);
  probe.processors = 1;
  found = foretold_job(job_of(4), fleet_of(probe, 1, 1), {1, 2, 1}, false).times;
  CHECK(sum_of(found.sum) == doctest::Approx(2 * sum).epsilon(0.02));
  CHECK(sum_of(found.apply) == doctest::Approx(2 * apply).epsilon(0.02));
}

TEST_CASE(
    "what the transport does shares the processor that a lane has, and takes no time beside it where there are two") {
  auto probe = machine();
  probe.lane = LaneProbe{.sum = 1e-3, .wire = 5e-4};
  const auto many = sum_of(foretold_job(job_of(4), fleet_of(probe, 1, 1), {1, 1, 1}, false).times.sum);
  probe.processors = 1;
  const auto one = sum_of(foretold_job(job_of(4), fleet_of(probe, 1, 1), {1, 1, 1}, false).times.sum);
  CHECK(one == doctest::Approx(2 * many).epsilon(0.02));  // what comes, and what goes
}

TEST_CASE("only jobs whose updates wait for the lead have decisions") {
  CHECK(foretold_job(job_of(1), fleet_of(machine(), 1, 1), {1, 1, 1}, false).times.decisions.empty());
  CHECK_FALSE(foretold_job(job_of(1), fleet_of(machine(), 1, 1), {1, 1, 1}, true).times.decisions.empty());
}

}  // namespace
}  // namespace ballast
