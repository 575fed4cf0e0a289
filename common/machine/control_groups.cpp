#include "common/machine/control_groups.h"

#include <fstream>
#include <string>

namespace ballast {

namespace {

namespace fs = std::filesystem;

void each_up_to(const fs::path& top, const std::string& group, GroupVersion version, const VisitGroup& visit) {
  for (auto path = fs::path(group).relative_path(); !path.empty(); path = path.parent_path()) {
    visit(top / path, version);
  }
  visit(top, version);
}

// A line of /proc/self/cgroup: number:controllers:path. Version 2 has none of the former, and number 0.
void each_by_line(const fs::path& groups, const std::string& line, std::string_view controller,
                  const VisitGroup& visit) {
  const auto first = line.find(':');
  const auto second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) {
    return;
  }
  const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const auto group = line.substr(second + 1);
  if (controllers == ",,") {
    each_up_to(groups, group, GroupVersion::second, visit);
  } else if (controllers.find("," + std::string(controller) + ",") != std::string::npos) {
    each_up_to(groups / controller, group, GroupVersion::first, visit);
  }
}

}  // namespace

void each_group(std::string_view controller, const VisitGroup& visit, const fs::path& root) {
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    each_by_line(root / "sys/fs/cgroup", line, controller, visit);
  }
}

}  // namespace ballast
