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
  CHECK(replayed(times, 10'000'000) == doctest::Approx(400 + 1'200 / 0.8).epsilon(0.01));
  CHECK(replayed(times, 1'000'000) == doctest::Approx(1'600).epsilon(0.01));
}

}  // namespace
}  // namespace ballast::insight
