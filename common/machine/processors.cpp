#include "common/machine/processors.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <thread>

#include "common/machine/control_groups.h"

namespace ballast {

namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

double allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    return CPU_COUNT(&set);
  }
  return std::max(1U, std::thread::hardware_concurrency());  // more of them than a set holds
}

double quotient(double quota, double period) { return quota > 0 && period > 0 ? quota / period : kNoQuota; }

// "max" and -1 are none.
double quota_in(const std::filesystem::path& group, GroupVersion version) {
  double quota = 0;
  double period = 0;
  if (version == GroupVersion::second) {
    return std::ifstream(group / "cpu.max") >> quota >> period ? quotient(quota, period) : kNoQuota;
  }
  const bool is_told =
      std::ifstream(group / "cpu.cfs_quota_us") >> quota && std::ifstream(group / "cpu.cfs_period_us") >> period;
  return is_told ? quotient(quota, period) : kNoQuota;
}

}  // namespace

double processors_here(const std::filesystem::path& root) {
  auto least = allowed_processors();
  each_group(
      "cpu",
      [&least](const std::filesystem::path& group, GroupVersion version) {
        least = std::min(least, quota_in(group, version));
      },
      root);
  return least;
}

}  // namespace ballast
