#include "cli/models/losses.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "cli/models/opened_run.h"
#include "common/job/words.h"

namespace ballast {

namespace {

std::string line_of(const StepStatistics& statistics) {
  const float accuracy = statistics.examples > 0 ? statistics.correct / statistics.examples : 0;
  return std::to_string(statistics.step) + "," + float_text(statistics.loss) + "," + float_text(accuracy) + "," +
         std::to_string(static_cast<std::uint64_t>(statistics.examples)) + "\n";
}

void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0) {
    throw std::runtime_error(std::string("standard output cannot be written: ") + std::strerror(errno));
  }
}

}  // namespace

int print_losses(const std::string& folder) {
  const OpenedRun run(folder);
  const auto steps = value_or_throw(run.reader().statistics(0, std::numeric_limits<Step>::max()));
  print("step,loss,accuracy,examples\n");
  for (const auto& statistics : steps) {
    print(line_of(statistics));
  }
  if (std::fflush(stdout) != 0) {
    throw std::runtime_error(std::string("standard output cannot be written: ") + std::strerror(errno));
  }
  return 0;
}

}  // namespace ballast
