#include "common/machine/memory.h"

#include <doctest/doctest.h>

#include "tests/unit/common/machine/machine_files.h"

namespace ballast {
namespace {

class Machine : public testing::MachineFiles {
 public:
  [[nodiscard]] std::uint64_t memory() const { return memory_here(root()); }
};

constexpr auto* kFacts = "MemTotal:        1000 kB\nMemFree:          10 kB\nMemAvailable:     400 kB\n";

TEST_CASE("what a machine tells nothing of is not known") { CHECK(Machine().memory() == 0); }

TEST_CASE("without control groups it is what the machine has") {
  const Machine machine;
  machine.file("proc/meminfo", kFacts);
  CHECK(machine.memory() == 1'024'000);
  machine.file("proc/self/cgroup", "0::/nowhere\n");
  CHECK(machine.memory() == 1'024'000);
}

TEST_CASE("the least of a group and those above it counts, up to the top") {
  const Machine machine;
  machine.file("proc/meminfo", kFacts);
  machine.file("proc/self/cgroup", "0::/a/b\n");
  machine.file("sys/fs/cgroup/a/b/memory.max", "max\n");
  CHECK(machine.memory() == 1'024'000);
  machine.file("sys/fs/cgroup/a/memory.max", "5000\n");
  CHECK(machine.memory() == 5000);
  machine.file("sys/fs/cgroup/a/b/memory.max", "6000\n");
  CHECK(machine.memory() == 5000);
  machine.file("sys/fs/cgroup/memory.max", "4000\n");  // a container's own
  CHECK(machine.memory() == 4000);
  machine.file("sys/fs/cgroup/a/c/memory.max", "1\n");  // another group's
  CHECK(machine.memory() == 4000);
}

TEST_CASE("a limit beyond what the machine has is none") {
  const Machine machine;
  machine.file("proc/meminfo", kFacts);
  machine.file("proc/self/cgroup", "0::/a\n");
  machine.file("sys/fs/cgroup/a/memory.max", "9000000000\n");
  CHECK(machine.memory() == 1'024'000);
}

TEST_CASE("groups of the first version are known by their controllers") {
  const Machine machine;
  machine.file("proc/meminfo", kFacts);
  machine.file("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/b\nnonsense\n0::/\n");
  machine.file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1\n");
  CHECK(machine.memory() == 1'024'000);
  machine.file("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "7000\n");
  CHECK(machine.memory() == 7000);
}

TEST_CASE("this machine tells") { CHECK(memory_here() > 0); }

}  // namespace
}  // namespace ballast
