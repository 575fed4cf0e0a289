// Lives many lives, each job in a process of its own, so that even a core that crashes or hangs is reported with its
// seed.
#pragma once

#include <cstdint>
#include <vector>

namespace ballast::simulation {

inline constexpr unsigned kMostJobs = 64;

struct Options {
  bool one_seed = false;
  bool trace = false;
  std::vector<std::uint64_t> seeds;  // lived first
  std::uint64_t first_seed = 1;      // of those that follow
  std::uint64_t lives = 0;           // 0: as many as `seconds` allow
  double seconds = 10;
  unsigned jobs = 2;
};

// Lives lives until time is up, enough are lived or a promise breaks. Returns the exit status.
int simulate(const Options& options);
// Lives one, traced if that is wanted.
int simulate_one(const Options& options);

}  // namespace ballast::simulation
