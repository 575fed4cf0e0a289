#include "insight/link_memory.h"

#include <doctest/doctest.h>

#include "tests/unit/insight/job_times_fixture.h"

namespace ballast::insight {
namespace {

JobTimes seen(double in, double shard) {
  auto times = job_of(2, 4);
  times.servers.in = times.servers.seen_in = in;
  times.shards[0].out = times.shards[0].seen_out = shard;
  return times;
}

TEST_CASE("link memory: what a window does not tell is as it was seen in the last one that did") {
  LinkMemory memory;
  memory.keep(seen(100, 40));
  memory.keep(seen(0, 0));
  auto times = seen(0, 0);
  times.line = 0;
  memory.complete(times);
  CHECK(times.servers.in == 100);
  CHECK(times.servers.out == 0);
  CHECK(times.shards[0].out == 40);
  auto slower = seen(60, 0);  // and that is what it is now
  memory.complete(slower);
  CHECK(slower.servers.in == 60);
}

TEST_CASE("link memory: what is only taken to be as the other way gives way to what was seen, which is fitted once") {
  LinkMemory memory;
  auto fitted = seen(120, 0);
  fitted.servers.in = 100;
  memory.keep(fitted);
  auto remembered = seen(0, 0);
  remembered.servers.in = 80;  // and fitted
  memory.keep(remembered);
  auto times = seen(0, 0);
  times.servers.in = 30;
  times.is_borrowed.in = true;
  memory.complete(times);
  CHECK(times.servers.in == 100);
  CHECK_FALSE(times.is_borrowed.in);
}

}  // namespace
}  // namespace ballast::insight
