// The control groups that this process is in, of either version.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace ballast {

enum class GroupVersion : bool { first, second };

// Calls `visit` with the folder of the group that this process is in by `controller`, and with those of the groups
// above it, up to the top. In a container a group's own path may not be there, and what is at the top is the
// container's. What is no line of /proc/self/cgroup is passed over. `root`: where /proc and /sys are, for tests.
using VisitGroup = std::function<void(const std::filesystem::path& folder, GroupVersion version)>;
void each_group(std::string_view controller, const VisitGroup& visit, const std::filesystem::path& root = "/");

}  // namespace ballast
