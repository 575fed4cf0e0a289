#include "common/machine/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

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

// The least of a group's limit and those of the groups above it, up to `top`. In a container the group's own path may
// not be there, and what is at the top is the container's.
std::uint64_t limit_of_groups(const fs::path& top, const std::string& group, const char* file) {
  auto least = limit_in(top / file);
  for (auto path = fs::path(group).relative_path(); !path.empty(); path = path.parent_path()) {
    least = std::min(least, limit_in(top / path / file));
  }
  return least;
}

// A line of /proc/self/cgroup: number:controllers:path. Version 2 has none of the former, and number 0.
std::uint64_t limit_by_line(const fs::path& root, const std::string& line) {
  const auto first = line.find(':');
  const auto second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) {
    return kNoLimit;
  }
  const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const auto group = line.substr(second + 1);
  if (controllers == ",,") {
    return limit_of_groups(root / "sys/fs/cgroup", group, "memory.max");
  }
  return controllers.find(",memory,") == std::string::npos
             ? kNoLimit
             : limit_of_groups(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
}

}  // namespace

std::uint64_t memory_here(const fs::path& root) {
  auto least = total_memory(root);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    least = std::min(least, limit_by_line(root, line));
  }
  return least == kNoLimit ? 0 : least;
}

}  // namespace ballast
