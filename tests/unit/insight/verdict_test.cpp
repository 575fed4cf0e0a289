#include "insight/verdict.h"

#include <doctest/doctest.h>

#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

// A job that takes as long as its replay does.
Verdict verdict_of(JobTimes times, const std::vector<Severity>& severities = {}) {
  times.step = 500'000;
  const auto found = verdict(std::move(times), severities);
  REQUIRE(found);
  return *found;
}

Severity slow(Resource resource, const std::string& who, double times) {
  Severity severity;
  severity.resource = resource;
  severity.who = who;
  severity.process = who.starts_with("worker w") ? static_cast<std::size_t>(who.back() - '0') : kLaneProcess;
  severity.times = times;
  severity.is_slow = true;
  return severity;
}

TEST_CASE("verdict: of workers that are alike nobody is found") {
  const auto found = verdict_of(job_of(4, 16));
  CHECK(found.found.empty());
  CHECK(found.slowdown == 1);
  CHECK(found.steps == 10);
  CHECK(found.replayed == doctest::Approx(400).epsilon(0.01));
}

TEST_CASE("verdict: one that all wait for costs as much as it is slow") {
  auto times = job_of(4, 16);
  slow_down(times.workers[2], 2);
  const auto found = verdict_of(times, {slow(Resource::compute, "worker w2", 2)});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::compute);
  CHECK(found.found[0].who == "worker w2");
  CHECK(found.found[0].severity == 2);
  CHECK(found.found[0].gain == doctest::Approx(2).epsilon(0.01));
  CHECK(found.found[0].cost == found.found[0].gain);
  CHECK(found.slowdown == found.found[0].gain);
}

TEST_CASE("verdict: the gradients of one that is mended are ready as those of its peers are") {
  auto times = job_of(4, 4);
  for (auto& worker : times.workers) {
    worker.up = 10;
    worker.ready = {0.5, 0.5};
  }
  slow_down(times.workers[2], 3);
  times.workers[2].ready = {0.9, 0.9};  // what makes it slow comes before all of them
  const auto found = verdict_of(times, {slow(Resource::compute, "worker w2", 3)});
  REQUIRE(found.found.size() == 1);
  // Two chunks of 100 ms, from 270 of 300 ms on or from 50 of 100.
  CHECK(found.found[0].gain == doctest::Approx(470.0 / 250).epsilon(0.02));
}

TEST_CASE("verdict: mending one of two that are as slow gains nothing, and each costs all of it") {
  auto times = job_of(4, 16);
  slow_down(times.workers[1], 2);
  slow_down(times.workers[2], 2);
  const auto found =
      verdict_of(times, {slow(Resource::compute, "worker w1", 2), slow(Resource::compute, "worker w2", 2)});
  REQUIRE(found.found.size() == 2);
  for (const auto& one : found.found) {
    CHECK(one.gain < 1.03);
    CHECK(one.cost == doctest::Approx(2).epsilon(0.01));
  }
}

TEST_CASE("verdict: the one that matters more comes first, whatever is slower beside its peers") {
  auto times = job_of(4, 16);
  slow_down(times.workers[1], 1.5);
  times.workers[3].fetch = 1.9 * kSlot;
  const auto found =
      verdict_of(times, {slow(Resource::compute, "worker w1", 10), slow(Resource::data, "worker w3", 1.9)});
  REQUIRE(found.found.size() == 2);
  CHECK(found.found[0].who == "worker w3");
  CHECK(found.found[0].gain == doctest::Approx(1.9 / 1.5).epsilon(0.02));
  CHECK(found.found[0].cost == doctest::Approx(1.9).epsilon(0.02));
  CHECK(found.found[1].gain < 1.01);
  CHECK(found.found[1].cost == doctest::Approx(1.5).epsilon(0.02));
}

TEST_CASE("verdict: a slow link is mended to what a peer's carries, both ways, and is one cause") {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = 20;
    worker.down = 20;
  }
  times.workers[1].up = 2;
  times.workers[1].down = 4;
  const auto found =
      verdict_of(times, {slow(Resource::uplink, "worker w1", 10), slow(Resource::downlink, "worker w1", 5)});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::worker_link);
  CHECK(found.found[0].severity == 10);
  CHECK(found.found[0].gain == doctest::Approx((400 + 1000 + 250) / (400.0 + 100 + 50)).epsilon(0.02));
}

TEST_CASE(
    "verdict: of a link it is told what is worse than its peers': what it carries, how far it is, what it loses") {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = 20;
    worker.down = 20;
    worker.delay = 200;
    worker.resent = 0.0001;
  }
  times.workers[1].up = 2;
  times.workers[1].down = 2;
  const auto trouble = [&] {
    const auto found = verdict_of(times, {slow(Resource::uplink, "worker w1", 10)}).found;
    REQUIRE(found.size() == 1);
    return found[0].trouble;
  };
  CHECK(trouble() == LinkTrouble::rate);
  times.workers[1].delay = 25'000;
  CHECK(trouble() == LinkTrouble::delay);
  times.workers[1].resent = 0.01;
  CHECK(trouble() == LinkTrouble::loss);  // it makes round trips long as well
  for (auto& worker : times.workers) {
    worker.delay = 25'000;
    worker.resent = 0.01;
  }
  CHECK(trouble() == LinkTrouble::rate);  // all have that
}

TEST_CASE("verdict: a starved lane is mended with what its other threads wait") {
  auto times = job_of(4, 16);
  times.lanes[0].message = 10'000;
  times.lanes[0].starved = 5;
  times.lanes[0].behind = 20;
  const auto found = verdict_of(times, {slow(Resource::processor, "shard 0 lane 0", 5)});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::processor);
  CHECK(found.found[0].gain == doctest::Approx(480.0 / 400.8).epsilon(0.01));  // of eight messages a step
}

TEST_CASE("verdict: a worker that stood still before a slot lost what it stood, and the job with it") {
  auto times = job_of(4, 16);
  times.workers[3].stops.assign(times.steps, 0);
  times.workers[3].stops[4] = 2'000'000;
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::passing);
  CHECK(found.found[0].who == "worker w3");
  CHECK(found.found[0].lost == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("verdict: a link that is in nobody's way is an example of one that takes no time") {
  auto times = job_of(4, 16);
  times.workers[1].down = 2;
  const auto found = verdict_of(times, {slow(Resource::downlink, "worker w1", 5)});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].gain == doctest::Approx((400 + 1000) / 400.0).epsilon(0.02));
}

TEST_CASE("verdict: a worker that got no slots in the window is judged by its link as it was seen last") {
  auto times = job_of(4, 12);
  for (auto& worker : times.workers) {
    worker.up = 20;
  }
  times.workers[3].up = 2;
  times.workers[3].slots.assign(times.steps, {});
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::worker_link);
  CHECK(found.found[0].who == "worker w3");
  CHECK(found.found[0].severity == 10);
}

TEST_CASE("verdict: what passes costs seconds, and takes no example from itself") {
  auto times = job_of(4, 16);
  times.workers[0].slots[4][2] += 2'000'000;
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::passing);
  CHECK(found.found[0].lost == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("verdict: scatter of a tenth passes for no stop of anybody's, but all wait for it") {
  auto times = job_of(4, 16);
  double next = 0.9;
  for (auto& worker : times.workers) {
    for (auto& step : worker.slots) {
      for (auto& slot : step) {
        slot *= next;
        next = next > 1.1 ? 0.9 : next + 0.013;
      }
    }
  }
  const auto found = verdict_of(times).found;
  REQUIRE(found.size() == 1);
  CHECK(found[0].cause == Cause::barrier);
  CHECK(found[0].cost < 1.1);
}

TEST_CASE("verdict: a lane's thread without a processor, and a lead that decides late") {
  auto times = job_of(2, 4);
  times.sum = {100'000, 100'000};
  times.lanes[0].starved = 10;
  times.decisions.assign(times.steps, 101'000);
  const auto found =
      verdict_of(times, {slow(Resource::processor, "shard 0 lane 0", 10), slow(Resource::lead, "lead", 101)});
  REQUIRE(found.found.size() == 2);
  CHECK(found.found[0].cause == Cause::processor);
  CHECK(found.found[0].gain == doctest::Approx((200 + 400 + 101) / (200 + 40 + 101.0)).epsilon(0.02));
  CHECK(found.found[1].cause == Cause::lead);
  CHECK(found.found[1].gain == doctest::Approx((200 + 400 + 101) / (200 + 400 + 1.0)).epsilon(0.02));
}

TEST_CASE("verdict: a shard whose link is slower than the others'") {
  auto times = job_of(2, 4);
  times.lanes = {{.name = "shard 0 lane 0", .shard = 0}, {.name = "shard 1 lane 0", .shard = 1}};
  times.lane_of = {0, 1};
  times.shards = {{10, 10, 10, 10}, {100, 100, 100, 100}};
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::server_link);
  CHECK(found.found[0].who == "shard 0");
  CHECK(found.found[0].severity == 10);
  // Who has the weights first computes while the other's are on their way.
  CHECK(found.found[0].gain == doctest::Approx((200 + 200 + 100) / (200 + 20 + 20.0)).epsilon(0.05));
  times.shards[1].in = times.shards[1].out = 0;  // it was found to be in nobody's way
  const auto still = verdict_of(times);
  REQUIRE(still.found.size() == 1);
  CHECK(still.found[0].severity == 10);
  CHECK(still.found[0].gain == doctest::Approx(found.found[0].gain).epsilon(0.1));
}

TEST_CASE("verdict: of shards whose links are slow workers wait for each, and carry no more for both being mended") {
  auto times = job_of(2, 4);
  times.lanes.clear();
  times.lane_of = {0, 1};
  for (std::uint32_t shard = 0; shard < 5; ++shard) {
    times.lanes.push_back({.name = "shard " + std::to_string(shard) + " lane 0", .shard = shard});
    times.shards.push_back({100, 100, 100, 100});
  }
  times.shards.erase(times.shards.begin());
  for (auto& worker : times.workers) {
    worker.up = worker.down = 20;
  }
  times.shards[0] = times.shards[1] = {10, 10, 10, 10};
  times.servers = {50, 50};
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 2);
  // At best a worker's two chunks of a megabyte take 50 ms at 40 a microsecond, not half of it.
  CHECK(found.replayed / found.slowdown > 200 + 50);
}

TEST_CASE("verdict: in items one that is slow costs what it does not bring") {
  auto times = items_of(4, 16);
  slow_down(times.workers[2], 2);
  const auto found = verdict_of(times, {slow(Resource::compute, "worker w2", 2)});
  CHECK(found.items == 16);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].gain == doctest::Approx(4 / 3.5).epsilon(0.02));
  CHECK(found.found[0].cost == found.found[0].gain);
}

// Another shard, which has the second chunk and whose journal takes so long.
void add_shard(JobTimes& times, double journal) {
  times.lanes.push_back({.name = "shard 1 lane 0", .process = 1, .shard = 1, .journal = journal});
  times.shards.resize(2);
  times.lane_of = {0, 1};
}

std::vector<Severity> slow_journals(double first, double second) {
  auto other = slow(Resource::storage, "shard 1 lane 0", second);
  other.process = 1;
  return {slow(Resource::storage, "shard 0 lane 0", first), other};
}

TEST_CASE("verdict: a journal that items wait for costs that, of two shards that are as slow each all of it") {
  auto times = items_of(4, 16);
  times.lanes[0].journal = 60'000;
  const auto one = verdict_of(times, {slow(Resource::storage, "shard 0 lane 0", 1.6)});
  REQUIRE(one.found.size() == 1);
  CHECK(one.found[0].cause == Cause::storage);
  CHECK(one.found[0].who == "shard 0");
  CHECK(one.found[0].gain == doctest::Approx(1.6).epsilon(0.02));
  add_shard(times, 60'000);
  const auto both = verdict_of(times, slow_journals(1.6, 1.6));
  REQUIRE(both.found.size() == 2);
  for (const auto& each : both.found) {
    CHECK(each.gain < 1.01);
    CHECK(each.cost == doctest::Approx(1.6).epsilon(0.02));
  }
}

TEST_CASE("verdict: without a journal that they wait for workers' links carry more, as far as their lines do") {
  auto times = items_of(4, 16);
  times.lanes[0].journal = 160'000;
  for (auto& worker : times.workers) {
    worker.up = 20;  // the second chunk of a slot is there 100 ms after it, or 80
    worker.line = 25;
  }
  const auto found = verdict_of(times, {slow(Resource::storage, "shard 0 lane 0", 2.6)});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].gain == doctest::Approx((100 + 100 + 160) / (100 + 80.0)).epsilon(0.02));
  auto two = times;
  add_shard(two, 2'500);
  const auto both = verdict_of(two, slow_journals(2.6, 1.03));
  REQUIRE(both.found.size() == 2);
  CHECK(both.found[0].cost == doctest::Approx((100 + 50 + 160) / (100 + 80.0)).epsilon(0.02));  // whichever is last
  times.lanes[0].journal = 2'500;  // nobody stands still for that for longer than messages take
  const auto quick = verdict_of(times, {slow(Resource::storage, "shard 0 lane 0", 1.03)});
  REQUIRE(quick.found.size() == 1);
  CHECK(quick.found[0].gain == doctest::Approx(202.5 / 200).epsilon(0.005));
}

TEST_CASE("verdict: in rounds nobody waits for a disk") {
  auto times = job_of(4, 16);
  times.lanes[0].journal = 60'000;
  CHECK(verdict_of(times, {slow(Resource::storage, "shard 0 lane 0", 1.6)}).found.empty());
}

// One worker's slots of a step are longer than the others', each time another's.
void scatter_slots(JobTimes& times, double longer) {
  for (std::size_t step = 0; step < times.steps; ++step) {
    for (auto& slot : times.workers[step % times.workers.size()].slots[step]) {
      slot *= longer;
    }
  }
}

TEST_CASE("verdict: slots that scatter make all wait, though nobody is slower for long") {
  auto times = job_of(4, 16);
  times.steps = 8;
  for (auto& worker : times.workers) {
    worker.slots.resize(8);
  }
  scatter_slots(times, 1.25);
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::barrier);
  CHECK(found.found[0].who == "all workers");
  CHECK(found.found[0].cost == doctest::Approx(1.25 / (1 + 0.25 / 4)).epsilon(0.01));
  CHECK(found.found[0].gain == found.found[0].cost);
  CHECK(found.slowdown == found.found[0].cost);
  CHECK(found.found[0].severity == doctest::Approx(1.25 / (1 + 0.25 / 4)).epsilon(0.01));
}

TEST_CASE("verdict: what scatters less than what is worth a word is no cause, nor is it one beside somebody slow") {
  auto times = job_of(4, 16);
  scatter_slots(times, 1.02);
  CHECK(verdict_of(times).found.empty());
  slow_down(times.workers[1], 2);
  const auto found = verdict_of(times, {slow(Resource::compute, "worker w1", 2)});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].cause == Cause::compute);
}

TEST_CASE("verdict: a reader that would be waited for without what else is slow costs as much as that") {
  auto times = job_of(4, 16);
  times.lanes[0].starved = 20;
  times.sum = {12'500, 12'500};
  times.apply = {50'000, 50'000};        // 200 ms in all after the slots,
  times.workers[1].fetch = 1.5 * kSlot;  // in which a reader catches up
  const auto found = verdict_of(times, {slow(Resource::processor, "shard 0 lane 0", 20)});
  REQUIRE(found.found.size() == 2);
  for (const auto& one : found.found) {
    CHECK(one.cost > 1.4);
    CHECK(one.gain < 1.1);
  }
  CHECK(found.slowdown == doctest::Approx(1.5).epsilon(0.05));
}

TEST_CASE("verdict: a worker that is far away is suspected, though its link carries as much as others'") {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = worker.down = 200;
    worker.delay = 100;
  }
  CHECK(verdict_of(times).found.empty());
  times.workers[2].delay = 20'000;
  const auto found = verdict_of(times);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].who == "worker w2");
  CHECK(found.found[0].trouble == LinkTrouble::delay);
  CHECK(found.found[0].gain == doctest::Approx(460.0 / 420).epsilon(0.01));
  CHECK(found.found[0].severity == doctest::Approx(10));  // beside a delay that matters
  for (auto& worker : times.workers) {
    worker.delay = worker.name == "worker w2" ? 20'000 : 0;  // of whose nothing is known
  }
  CHECK(verdict_of(times).found.empty());
}

TEST_CASE("verdict: a worker alone has nobody beside whom it could be far away, or lose much") {
  auto times = job_of(1, 4);
  times.workers[0].up = times.workers[0].down = 50;
  times.workers[0].delay = 20'000;
  times.workers[0].resent = 0.05;
  CHECK(verdict_of(times).found.empty());
}

TEST_CASE("verdict: shards far below their lines are suspected only where it is known what workers' links carry") {
  auto times = job_of(4, 16);
  times.lanes.push_back({.name = "shard 1 lane 0", .process = kLaneProcess + 1, .shard = 1});
  times.lane_of = {0, 1};
  times.shards = {{20, 20, 20, 20, 100}, {20, 20, 20, 20, 100}};
  for (auto& worker : times.workers) {
    worker.up = worker.down = 5;
  }
  CHECK(verdict_of(times).found.empty());
  times.line = 5;
  const auto bound = verdict_of(times);  // by workers' lines: it gains nothing that shards are mended
  CHECK(bound.slowdown < 1.02);
  times.line = 50;
  CHECK(verdict_of(times).found.size() == 2);
  CHECK(verdict_of(times).slowdown > 1.3);
  for (auto& lane : times.lanes) {
    lane.starved = 5;
  }
  CHECK(verdict_of(times).found.empty());  // less comes for that
}

TEST_CASE("verdict: a link that loses what it carries is suspected though its usual message is as quick as others'") {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = worker.down = 100;
    worker.resent = 0.0001;
  }
  times.workers[1].up = times.workers[1].down = 5;  // in the mean
  times.workers[1].resent = 0.01;
  const auto one = verdict(times, {});
  REQUIRE(one);
  REQUIRE(one->found.size() == 1);
  CHECK(one->found[0].who == "worker w1");
  CHECK(one->found[0].cause == Cause::worker_link);
  CHECK(one->found[0].severity == doctest::Approx(20));
  CHECK(one->found[0].cost > 1.3);
  for (auto& worker : times.workers) {
    worker.resent = 0.01;  // they share what loses it
  }
  const auto all = verdict(times, {});
  REQUIRE(all);
  CHECK(all->found.empty());
}

}  // namespace
}  // namespace ballast::insight
