// Who may hold a job back.
#pragma once

#include <cstddef>
#include <vector>

#include "insight/job_times.h"
#include "insight/severity.h"
#include "insight/verdict.h"

namespace ballast::insight {

struct Suspect {
  Cause cause = Cause::compute;
  // Of the worker, lane or shard; 0 of what is all's. Of a server link: so many as there are shards is that of all. Of
  // what passes: shards come after the workers.
  std::size_t place = 0;
  double severity = 1;
  bool operator==(const Suspect& other) const { return cause == other.cause && place == other.place; }
};

// Whether its link, or what it alone shares, loses what goes over it: by the kernels' counts, beside the others'.
bool loses_most(const JobTimes& times, std::size_t worker);

// Whether what goes to it, or comes from it, is much longer on its way than the others'.
bool is_far(const JobTimes& times, std::size_t worker);

// Whether a slot took so much longer than its worker's others that it passes for a hiccup.
bool is_odd(double slot, const WorkerTimes& own);

// The slowest beside their peers, each of whom takes two replays: sixteen at most.
std::vector<Suspect> suspects(const JobTimes& times, const std::vector<Severity>& severities);

}  // namespace ballast::insight
