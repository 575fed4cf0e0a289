// ballast-live: lives the scenarios, each in a process of its own, then the lives of the seeds that are named, and then
// lives of chance, for so many seconds, until a promise breaks. What breaks in a scenario may be too rare to meet by
// chance.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "tests/scenarios/scenarios.h"
#include "tests/simulation/jobs.h"

namespace {

constexpr unsigned kHangSeconds = 8;  // of wall time; a scenario takes some milliseconds

int live_one(const ballast::scenarios::Scenario& scenario) {
  alarm(kHangSeconds);
  try {
    ballast::scenarios::live(scenario, {});
  } catch (const std::exception& error) {
    std::printf("VIOLATION in scenario %s: %s\n", scenario.name.c_str(), error.what());
    std::fflush(stdout);
    return 1;
  }
  return 0;
}

bool keeps_promises(const ballast::scenarios::Scenario& scenario) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(live_one(scenario));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    std::printf("VIOLATION in scenario %s: a core crashed, or does not return\n", scenario.name.c_str());
  }
  return status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  ballast::simulation::Options options;
  options.jobs = 1;
  options.seconds = argc >= 2 ? std::strtod(argv[1], nullptr) : 0;
  for (int i = 2; i < argc; ++i) {
    options.seeds.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  if (options.seconds <= 0) {
    std::fputs("ballast-live SECONDS [SEED...]\n", stderr);
    return 2;
  }
  for (const auto& scenario : ballast::scenarios::all()) {
    if (!keeps_promises(scenario)) {
      return 1;
    }
  }
  return ballast::simulation::simulate(options);
}
