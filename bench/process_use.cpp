#include "bench/process_use.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ballast::bench {

ProcessUse process_use(pid_t pid) {
  const auto path = "/proc/" + std::to_string(pid) + "/stat";
  std::ifstream in(path);
  std::string text;
  std::getline(in, text);
  // The second field is the program's name in parentheses, with any characters in it; see proc(5).
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) {
    throw std::runtime_error(path + " cannot be read: the process has ended");
  }
  std::istringstream rest(text.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t kUserTime = 14 - 3;  // proc(5) numbers from 1, and the first field here is its third
  constexpr std::size_t kSystemTime = 15 - 3;
  constexpr std::size_t kResident = 24 - 3;
  if (fields.size() <= kResident) {
    throw std::runtime_error(path + " has fewer fields than expected");
  }
  const auto ticks = std::stoull(fields[kUserTime]) + std::stoull(fields[kSystemTime]);
  return {static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)),
          std::stoull(fields[kResident]) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

double own_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace ballast::bench
