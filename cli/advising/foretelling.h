// How long a step of a job will take with so many shards, lanes and workers; and how many pay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cli/advising/foretold_job.h"

namespace ballast {

// What a step would be shorter without.
enum class Bound : std::uint8_t { compute, data, worker_links, server_links, lanes, lead, processors };

// A step as it is would take `takes` microseconds if that took half as long.
struct Limit {
  Bound what = Bound::compute;
  double takes = 0;
};

struct Limiting {
  bool is_known = false;       // else not all that could be it were looked at
  std::optional<Limit> limit;  // none of what is known: no single thing
};

struct Foretold {
  Candidate candidate;
  double step = 0;  // microseconds
};

struct Foretelling {
  std::vector<Foretold> tried;     // by shards, lanes and workers
  std::size_t best = 0;            // of them: the shortest step
  std::size_t least = 0;           // that with the fewest machines (on one machine: processes) within 5 % of it
  std::optional<std::size_t> own;  // that of the job's file
  std::size_t untried = 0;         // for want of time
  std::size_t too_large = 0;       // to be replayed, with any time
  // Of `least`: what limits it, if anything does; and what would then, were that half as much.
  Limiting limiting;
  Limiting next;
};

struct SearchLimits {
  // Asked before each replay, which may take ten seconds of a large job; what is not tried then is counted.
  std::function<bool()> goes_on = [] { return true; };
  // Likewise, before each of those by which what limits a step is looked for.
  std::function<bool()> explains = [] { return true; };
  // Whether the machines have room for it.
  std::function<bool(const Candidate&)> fits = [](const Candidate&) { return true; };
};

// Powers of two and the most that there can be of each, and what the job's file says. Pure but for `limits`. Of none
// that was tried only the counts are told.
Foretelling foretell(const Job& job, const Fleet& fleet, bool waits, const SearchLimits& limits = {});

// The candidates, those first that are quick to replay; that of the job's file before all others.
std::vector<Candidate> candidates(const Job& job, const Fleet& fleet);

// Of one, microseconds. None: too large.
std::optional<double> foretold_step(const ForetoldJob& job, const Fleet& fleet);

}  // namespace ballast
