#include "common/machine/machine_id.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/unit/common/machine/machine_files.h"

namespace ballast {
namespace {

std::uint64_t id_of(const std::string& boot, const std::string& space) {
  const testing::MachineFiles files;
  files.file("proc/sys/kernel/random/boot_id", boot + "\n");
  std::filesystem::create_directories(files.root() / "proc/self/ns");
  std::filesystem::create_symlink(space, files.root() / "proc/self/ns/net");
  return machine_id(files.root());
}

TEST_CASE("machine id: the same for all who share a network namespace of a machine that has not begun anew") {
  CHECK(machine_id() != 0);
  CHECK(machine_id() == machine_id());
  const auto id = id_of("2f0c", "net:[4026531840]");
  CHECK(id != 0);
  CHECK(id_of("2f0c", "net:[4026531840]") == id);
  CHECK(id_of("2f0d", "net:[4026531840]") != id);
  CHECK(id_of("2f0c", "net:[4026531841]") != id);
}

TEST_CASE("machine id: none where the system does not tell") {
  const testing::MachineFiles files;
  CHECK(machine_id(files.root()) == 0);
}

}  // namespace
}  // namespace ballast
