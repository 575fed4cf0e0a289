#include "common/machine/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "common/machine/control_groups.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t total_memory(const fs::path& root) {
  std::ifstream facts(root / "proc/meminfo");
  for (std::string word; facts >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "MemTotal:" && facts >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return kNoLimit;
}

// "max" and whatever else is no number are no limit.
std::uint64_t limit_in(const fs::path& file) {
  std::uint64_t bytes = 0;
  return std::ifstream(file) >> bytes ? bytes : kNoLimit;
}

}  // namespace

std::uint64_t memory_here(const fs::path& root) {
  auto least = total_memory(root);
  const auto look = [&least](const fs::path& group, GroupVersion version) {
    least =
        std::min(least, limit_in(group / (version == GroupVersion::second ? "memory.max" : "memory.limit_in_bytes")));
  };
  each_group("memory", look, root);
  return least == kNoLimit ? 0 : least;
}

}  // namespace ballast
