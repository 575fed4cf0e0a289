#include "cli/running/corrupt_examples.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/processes/process.h"
#include "worker/corrupt_line.h"

namespace ballast {

namespace {

constexpr std::size_t kLinesAtEnd = 10;  // a worker says little behind it

std::uint64_t told_in(const std::filesystem::path& log) {
  std::uint64_t told = 0;
  const std::string_view begin = kCorruptLine;
  for (const auto& line : last_lines(log, kLinesAtEnd)) {
    if (const auto at = line.find(begin); at != std::string::npos) {
      told = std::strtoull(line.c_str() + at + begin.size(), nullptr, 10);
    }
  }
  return told;
}

}  // namespace

std::optional<CorruptCount> corrupt_examples(const std::vector<std::filesystem::path>& logs) {
  CorruptCount most;
  for (const auto& log : logs) {
    if (const auto told = told_in(log); told > most.examples) {
      most = {told, log};
    }
  }
  return most.examples > 0 ? std::optional(most) : std::nullopt;
}

}  // namespace ballast
