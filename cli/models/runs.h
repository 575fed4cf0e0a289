// `ballast runs`: the runs that lie in a folder, and what of them may go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

enum class RunCondition : std::uint8_t {
  running,  // processes of it live or a server has one of its databases open, or that cannot be told
  finished,
  unfinished,  // it can be resumed
  empty,       // it never wrote anything to a database
  unreadable,
};
const char* name_of(RunCondition condition);

// One run's folder, as it is now.
struct RunListing {
  std::filesystem::path folder;
  std::string job;  // its name; empty if the job file cannot be read
  RunCondition condition = RunCondition::unreadable;
  std::string problem;             // why it is unreadable
  Step step = 0;                   // of the end, or of the newest complete snapshot
  Step steps = 0;                  // of the whole job
  std::optional<double> accuracy;  // of the newest test, where there is none of the newest validation
  std::uintmax_t bytes = 0;        // on disk; what links lead to does not count
  std::int64_t began = 0;          // seconds since 1970: when the job file was last written
  bool marked = false;             // `ballast run`, `gather`, `restore` or `reshard` made it; others are never pruned
};

// The runs in `folder` (folders with a job.yaml), the newest first. Links are no runs. Throws std::runtime_error if it
// cannot be read.
std::vector<RunListing> list_runs(const std::filesystem::path& folder);

struct RunsOptions {
  std::string folder = "runs";
  bool json = false;
};
struct PruneOptions {
  std::string folder = "runs";
  std::uint32_t keep = 0;                 // the newest so many of those that would go
  std::optional<double> older_than = {};  // days
  bool unfinished = false;                // also runs that could be resumed, or cannot be read
  bool yes = false;                       // else it is only told what would go
};

// Which of them would go. Pure; `now` in seconds since 1970.
std::vector<RunListing> runs_to_prune(const std::vector<RunListing>& runs, const PruneOptions& options,
                                      std::int64_t now);

// Both return the exit code and throw std::runtime_error.
int show_runs(const RunsOptions& options);
// Removes what Ballast made in the chosen folders (run_removal.h), under the locks of the runs and of their databases.
int prune_runs(const PruneOptions& options);

}  // namespace ballast
