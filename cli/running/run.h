// `ballast run`: a whole cluster of real processes on this machine, until the job is done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/telling/progress.h"

namespace ballast {

struct RunOptions {
  std::string job;                     // the job file; with `resume`: empty, or the same job
  std::string resume;                  // folder of an earlier run that goes on; empty: a new run
  std::vector<std::string> overrides;  // key.path=value
  std::optional<std::uint32_t> workers;
  std::optional<std::uint32_t> shards;
  std::optional<std::uint32_t> lanes;
  std::string run_dir;           // empty: a new one in ./runs
  std::string summary;           // file for the JSON summary; empty: none
  std::string backend = "auto";  // of the workers: cpu, cuda, or auto: cuda where it can be had
  bool metrics = false;          // every process serves metrics
  bool page = false;             // the lead serves the job's web page
  bool watch = false;            // and a Prometheus asks them, if one is installed
  bool hold_start = false;       // training starts when all workers are ready
  ShowOptions show;
  std::map<std::uint32_t, std::string> worker_faults;
  std::map<std::uint32_t, std::vector<std::string>> server_faults;  // one for each life
};

// Returns the exit code: 0 the job finished, its weights are durable; 1 it did not, standard error says why; 2 the job
// file is wrong, or its data are not what it says; 3 it was stopped by `ballast stop`; 130 and 143 stopped by Ctrl-C or
// a request to terminate. No process is left behind.
int run(const RunOptions& options);

}  // namespace ballast
