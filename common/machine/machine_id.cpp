#include "common/machine/machine_id.h"

#include <fstream>
#include <functional>
#include <string>
#include <system_error>

namespace ballast {

std::uint64_t machine_id(const std::filesystem::path& root) {
  std::string boot;
  std::ifstream(root / "proc/sys/kernel/random/boot_id") >> boot;
  std::error_code failed;
  const auto space = std::filesystem::read_symlink(root / "proc/self/ns/net", failed);
  return boot.empty() || failed ? 0 : std::hash<std::string>()(boot + space.string());
}

}  // namespace ballast
