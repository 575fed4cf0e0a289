#include "common/machine/processor_use.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "tests/unit/common/machine/machine_files.h"

namespace ballast {
namespace {

using testing::MachineFiles;

TEST_CASE("what a machine does not tell of processors is 0") {
  const MachineFiles machine;
  CHECK(stolen_seconds(machine.root()) == 0);
  CHECK(throttling_here(machine.root()) == Throttling{});
}

TEST_CASE("stolen time is the eighth number of the line of all processors, in ticks") {
  const MachineFiles machine;
  machine.file("proc/stat", "cpu  1 2 3 4 5 6 7 800 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  CHECK(stolen_seconds(machine.root()) == doctest::Approx(800.0 / static_cast<double>(::sysconf(_SC_CLK_TCK))));
}

TEST_CASE("a line of processors that is another one, too short, or no numbers tells nothing") {
  const MachineFiles machine;
  for (const auto* text :
       {"", "cpu", "cpu  1 2 3 4 5 6 7", "cpu  1 2 3 four 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8\n", "intr 1 2 3 4 5 6 7 8\n",
        "cpu 1 2 3 4 5 6 7 -8\n", "cpu 1 2 3 4 5 6 7 99999999999999999999999\n"}) {
    CAPTURE(text);
    machine.file("proc/stat", text);
    CHECK(stolen_seconds(machine.root()) == 0);
  }
}

TEST_CASE("the group that was held back for longest counts, of this process's and those above it") {
  const MachineFiles machine;
  machine.file("proc/self/cgroup", "0::/a/b\n");
  machine.file("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 77\nnr_periods 10\nnr_throttled 0\nthrottled_usec 0\n");
  CHECK(throttling_here(machine.root()) == Throttling{10, 0, 0});
  machine.file("sys/fs/cgroup/a/cpu.stat",
               "usage_usec 99\nuser_usec 5\nnr_periods 8\nnr_throttled 6\nthrottled_usec 2500000\nnr_bursts 1\n");
  CHECK(throttling_here(machine.root()) == Throttling{8, 6, 2.5});
  machine.file("sys/fs/cgroup/a/c/cpu.stat", "nr_periods 9\nnr_throttled 9\nthrottled_usec 9000000\n");  // another's
  CHECK(throttling_here(machine.root()) == Throttling{8, 6, 2.5});
  machine.file("sys/fs/cgroup/cpu.stat",
               "nr_periods 3\nnr_throttled 2\nthrottled_usec 3000000\n");  // a container's own
  CHECK(throttling_here(machine.root()) == Throttling{3, 2, 3.0});
}

TEST_CASE("groups of the first version are known by their controllers, and count in nanoseconds") {
  const MachineFiles machine;
  machine.file("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/b\n3:cpuset:/c\n");
  machine.file("sys/fs/cgroup/cpu/m/cpu.stat", "nr_periods 9\nnr_throttled 9\nthrottled_time 9000000000\n");
  machine.file("sys/fs/cgroup/cpu/c/cpu.stat", "nr_periods 9\nnr_throttled 9\nthrottled_time 9000000000\n");
  CHECK(throttling_here(machine.root()) == Throttling{});
  machine.file("sys/fs/cgroup/cpu/b/cpu.stat", "nr_periods 4\nnr_throttled 3\nthrottled_time 1500000000\n");
  CHECK(throttling_here(machine.root()) == Throttling{4, 3, 1.5});
}

TEST_CASE("of a file of a group that is no list of numbers what stands before the first fault counts") {
  const MachineFiles machine;
  machine.file("proc/self/cgroup", "no line\n0::/a\n");
  for (const auto* text : {"", "nr_periods", "nr_periods many", "nr_periods -4\n", "\x01\x02", "throttled_usec 1e\n"}) {
    CAPTURE(text);
    machine.file("sys/fs/cgroup/a/cpu.stat", text);
    CHECK(throttling_here(machine.root()).periods == 0);
  }
  machine.file("sys/fs/cgroup/a/cpu.stat", "nr_periods 4\nnr_throttled x\nthrottled_usec 5\n");
  CHECK(throttling_here(machine.root()) == Throttling{4, 0, 0});
}

TEST_CASE("this process has had some processor time, and this machine's files are read") {
  CHECK(processor_seconds() > 0);
  CHECK(stolen_seconds() >= 0);
  CHECK(throttling_here().throttled <= throttling_here().periods);
}

}  // namespace
}  // namespace ballast
