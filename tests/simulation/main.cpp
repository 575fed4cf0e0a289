// ballast-simulate: lives many small clusters from many seeds, in virtual time, until time is up or a promise breaks.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/version/version.h"
#include "tests/simulation/jobs.h"

namespace ballast::simulation {
namespace {

int usage() {
  std::fputs(
      "ballast-simulate [--seconds S | --lives N] [--first-seed N] [--jobs N]   many lives\n"
      "ballast-simulate --seed N [--trace]                                      one life\n"
      "ballast-simulate --version                                               which Ballast this is\n"
      "Exit status: 0 if no promise was broken, 1 if one was, 2 for wrong arguments.\n",
      stderr);
  return 2;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--trace") {
      options.trace = true;
      continue;
    }
    char* end = nullptr;
    const double value = i + 1 < argc ? std::strtod(argv[++i], &end) : -1;
    if (end == nullptr || *end != 0 || end == argv[i] || !(value >= 0 && value <= 1e15)) {
      return false;
    }
    if (name == "--seed") {
      options.one_seed = true;
      options.first_seed = static_cast<std::uint64_t>(value);
    } else if (name == "--first-seed") {
      options.first_seed = static_cast<std::uint64_t>(value);
    } else if (name == "--seconds") {
      options.seconds = value;
    } else if (name == "--lives") {
      options.lives = static_cast<std::uint64_t>(value);
    } else if (name == "--jobs") {
      options.jobs = static_cast<unsigned>(std::clamp<double>(value, 1, kMostJobs));
    } else {
      return false;
    }
  }
  return !options.trace || options.one_seed;
}

}  // namespace
}  // namespace ballast::simulation

int main(int argc, char** argv) {
  using namespace ballast::simulation;  // NOLINT(google-build-using-namespace)
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("ballast-simulate %s\n", ballast::version().c_str());
    return 0;
  }
  Options options;
  if (!parse(argc, argv, options)) {
    return usage();
  }
  return options.one_seed ? simulate_one(options) : simulate(options);
}
