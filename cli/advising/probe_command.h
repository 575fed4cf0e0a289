// `ballast probe`: what this machine can do for a job.
#pragma once

#include <string>
#include <vector>

#include "cli/advising/probe.h"
#include "common/job/job.h"

namespace ballast {

struct ProbeOptions {
  std::string job;                     // the job file
  std::vector<std::string> overrides;  // key.path=value
  std::string role = "both";           // server | worker | both: what the machine is for
  std::string data_path;
  std::string backend = "auto";
  std::uint32_t device = 0;
  std::vector<std::string> to;  // HOST:PORT of machines to which links are measured
  std::string listen;           // HOST:PORT: the other end of such a link; nothing else is done
  double seconds = 2;           // for which slots are computed
  std::string output = "-";     // the file that is written; -: standard output
};

// Throws what probe_slots, probe_lane and probe_link do.
MachineProbe probe_machine(const Job& job, const ProbeOptions& options);

// The exit code.
int probe(const ProbeOptions& options);

}  // namespace ballast
