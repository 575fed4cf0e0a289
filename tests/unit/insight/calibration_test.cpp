#include "insight/calibration.h"

#include <doctest/doctest.h>

#include "insight/replay.h"
#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

double replayed(JobTimes times, double step) {
  times.step = step;
  return replay(calibrated(std::move(times))).value_or(0) / 1'000;
}

TEST_CASE(
    "calibration: where a job took longer than its replay, the servers' links were a little slower than they seemed") {
  auto times = job_of(4, 16);
  times.servers = {10, 10};  // 400 ms of slots; then 1,200 until the last chunk is there again, as it seems
  CHECK(replayed(times, 1'733'000) == doctest::Approx(1'733).epsilon(0.01));
  CHECK(replayed(times, 10'000'000) == doctest::Approx(1'600).epsilon(0.01));  // it was not for them
  CHECK(replayed(times, 1'000'000) == doctest::Approx(1'600).epsilon(0.01));
}

// Workers whose links have the rate, with what else a test says.
JobTimes with_links(double rate) {
  auto times = job_of(4, 16);
  for (auto& worker : times.workers) {
    worker.up = rate;
    worker.down = rate;
  }
  return times;
}

TEST_CASE("calibration: where a job took less than its replay, workers' links were faster than they seemed") {
  // 400 ms of slots, and 300 until the last chunk is there again: half as much at twice the rate.
  CHECK(replayed(with_links(10), 620'000) == doctest::Approx(620).epsilon(0.02));
  CHECK(replayed(with_links(10), 500'000) == doctest::Approx(550).epsilon(0.02));
  auto known = with_links(10);
  known.line = 12.5;
  CHECK(replayed(known, 500'000) == doctest::Approx(400 + 240).epsilon(0.02));
}

TEST_CASE(
    "calibration: a link that is slow beside the others is a little slower or faster than it seems, and no more") {
  auto times = with_links(100);
  times.workers[2].up = 5;
  times.workers[2].down = 5;
  CHECK(replayed(times, 500'000) == doctest::Approx(400 + 600).epsilon(0.02));
  CHECK(replayed(times, 920'000) == doctest::Approx(920).epsilon(0.02));
  CHECK(replayed(times, 1'090'000) == doctest::Approx(1'090).epsilon(0.02));
  CHECK(replayed(times, 3'000'000) == doctest::Approx(400 + 600).epsilon(0.02));
}

TEST_CASE("calibration: where a job took less, shards' links that are alike were not in the way, and a slow one was") {
  auto times = job_of(4, 16);
  times.shards[0].in = times.shards[0].seen_in = 10;  // 800 ms
  CHECK(replayed(times, 500'000) == doctest::Approx(400).epsilon(0.02));
  times.shards.push_back({100, 0, 100, 0});  // which nobody uses
  times.shards.push_back({100, 0, 100, 0});
  CHECK(replayed(times, 500'000) == doctest::Approx(1'200).epsilon(0.02));
}

TEST_CASE("calibration: shards' links that were in nobody's way carry what was said of them") {
  auto times = job_of(4, 16);
  times.shards = {{30, 30, 30, 30, 40}, {30, 30, 30, 30, 40}};
  times.step = 500'000;
  const auto fitted = calibrated(times);
  CHECK(fitted.shards[0].in == 40);
  CHECK(fitted.shards[1].out == 40);
}

TEST_CASE("calibration: where a job took longer, a shard's link that is far below its line was slower than it seemed") {
  auto times = job_of(4, 16);
  times.shards = {{10, 10, 10, 10, 30}};
  CHECK(replayed(times, 1'700'000) == doctest::Approx(1'700).epsilon(0.02));
}

TEST_CASE("calibration: a worker's link is no faster than its own line") {
  auto times = with_links(10);
  for (auto& worker : times.workers) {
    worker.line = 12.5;
  }
  times.line = 100;
  CHECK(replayed(times, 500'000) == doctest::Approx(400 + 240).epsilon(0.02));
}

TEST_CASE("calibration: where a job took longer, a link that loses what it carries stood still") {
  auto times = with_links(100);
  times.workers[1].resent = 0.01;
  times.servers = {1'000, 1'000};
  CHECK(replayed(times, 460'000) == doctest::Approx(460).epsilon(0.01));
  times.step = 460'000;
  const auto fitted = calibrated(times);
  CHECK(fitted.servers.in == 1'000);
  CHECK(fitted.workers[0].up == 100);
  CHECK(fitted.workers[1].up < 60);
}

TEST_CASE("calibration: where a job took longer, a shard's link that is slow was slower than it seemed") {
  auto times = job_of(4, 16);
  times.shards = {{10, 10, 10, 10}, {30, 30, 30, 30}};
  times.servers = {1'000, 1'000};
  CHECK(replayed(times, 1'700'000) == doctest::Approx(1'700).epsilon(0.02));
  times.step = 1'700'000;
  const auto fitted = calibrated(times);
  CHECK(fitted.shards[0].in < 9.5);
  CHECK(fitted.shards[1].in == 30);
  CHECK(fitted.servers.in == 1'000);
}

TEST_CASE("calibration: what is in nobody's way by the replay is dropped only where that brings it nearer") {
  auto times = job_of(4, 16);
  times.shards[0].in = times.shards[0].seen_in = 10;  // 1,200 ms with it, 400 without
  CHECK(replayed(times, 1'199'000) == doctest::Approx(1'200).epsilon(0.01));
  CHECK(replayed(times, 1'100'000) == doctest::Approx(1'200).epsilon(0.01));
}

TEST_CASE("calibration: a way that was not seen is left out where it makes a step too long") {
  auto times = job_of(4, 16);
  times.servers = {10, 0};
  times.is_borrowed.in = true;
  CHECK(replayed(times, 450'000) == doctest::Approx(400).epsilon(0.01));
  times.is_borrowed.in = false;
  CHECK(replayed(times, 450'000) > 1'000);
}

TEST_CASE("calibration: where a job in items took longer, records waited longer for the journal, if there is one") {
  auto times = items_of(4, 16);
  times.lanes[0].journal = 100'000;
  CHECK(replayed(times, 880'000) == doctest::Approx(880).epsilon(0.01));
  CHECK(replayed(times, 2'000'000) == doctest::Approx(800).epsilon(0.01));  // it was not for them
  times.lanes[0].journal = 0;
  CHECK(replayed(times, 880'000) == doctest::Approx(400).epsilon(0.01));
}

TEST_CASE("calibration: where a job took longer, messages of a lane that starves waited for its other threads") {
  auto times = job_of(4, 16);
  times.lanes[0].message = 100;
  times.lanes[0].starved = 5;
  CHECK(replayed(times, 450'000) == doctest::Approx(450).epsilon(0.003));
  times.step = 450'000;
  CHECK(calibrated(times).lanes[0].behind > 10);
}

}  // namespace
}  // namespace ballast::insight
