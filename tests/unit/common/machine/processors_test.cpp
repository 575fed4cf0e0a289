#include "common/machine/processors.h"

#include <doctest/doctest.h>

#include "tests/unit/common/machine/machine_files.h"

namespace ballast {
namespace {

class Processors : public testing::MachineFiles {
 public:
  [[nodiscard]] double count() const { return processors_here(root()); }
};

TEST_CASE("without a quota there are as many processors as this process may run on") {
  const Processors machine;
  const auto all = machine.count();
  CHECK(all >= 1);
  machine.file("proc/self/cgroup", "0::/a/b\n");
  machine.file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  CHECK(machine.count() == all);
}

TEST_CASE("of quotas that of the group, or of one above it, counts that leaves the least") {
  const Processors machine;
  machine.file("proc/self/cgroup", "0::/a/b\n");
  machine.file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  CHECK(machine.count() == doctest::Approx(0.5));
  machine.file("sys/fs/cgroup/a/cpu.max", "20000 100000\n");
  CHECK(machine.count() == doctest::Approx(0.2));
}

TEST_CASE("control groups of version 1 say it by two files, with -1 for none") {
  const Processors machine;
  const auto all = machine.count();
  machine.file("proc/self/cgroup", "4:cpu,cpuacct:/a\n");
  machine.file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  machine.file("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  CHECK(machine.count() == all);
  machine.file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "75000\n");
  CHECK(machine.count() == doctest::Approx(0.75));
}

TEST_CASE("a quota that is no number is none") {
  const Processors machine;
  const auto all = machine.count();
  machine.file("proc/self/cgroup", "0::/\n");
  for (const auto* text : {"", "what 100000\n", "0 100000\n", "50000 0\n", "-5 100000\n"}) {
    machine.file("sys/fs/cgroup/cpu.max", text);
    CHECK(machine.count() == all);
  }
}

}  // namespace
}  // namespace ballast
