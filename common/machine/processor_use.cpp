#include "common/machine/processor_use.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>

#include "common/machine/control_groups.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

// A line each: a word and a number. Version 1 has its time in nanoseconds and by another word.
Throttling throttling_in(const fs::path& file) {
  constexpr double kMicro = 1e-6;
  constexpr double kNano = 1e-9;
  Throttling found;
  std::ifstream in(file);
  std::string word;
  for (std::int64_t number = 0; in >> word >> number && number >= 0;) {
    if (word == "nr_periods") {
      found.periods = static_cast<std::uint64_t>(number);
    } else if (word == "nr_throttled") {
      found.throttled = static_cast<std::uint64_t>(number);
    } else if (word == "throttled_usec") {
      found.seconds = static_cast<double>(number) * kMicro;
    } else if (word == "throttled_time") {
      found.seconds = static_cast<double>(number) * kNano;
    }
  }
  return found;
}

}  // namespace

double processor_seconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

// The first line is of all processors: "cpu user nice system idle iowait irq softirq steal ...", in ticks.
double stolen_seconds(const fs::path& root) {
  std::ifstream in(root / "proc/stat");
  std::string word;
  in >> word;
  constexpr int kSteal = 8;
  std::int64_t ticks = 0;
  for (int field = 0; field < kSteal; ++field) {
    if (!(in >> ticks) || ticks < 0) {
      return 0;
    }
  }
  return word == "cpu" ? static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK)) : 0;
}

Throttling throttling_here(const fs::path& root) {
  Throttling longest;
  each_group(
      "cpu",
      [&longest](const fs::path& group, GroupVersion /*version*/) {
        if (const auto found = throttling_in(group / "cpu.stat");
            found.seconds > longest.seconds || (longest.seconds == 0 && found.periods > longest.periods)) {
          longest = found;
        }
      },
      root);
  return longest;
}

}  // namespace ballast
