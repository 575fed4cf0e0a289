// `ballast analyze`: which worker, phase, link or shard is slower than its peers, by what was measured.
#pragma once

#include <string>

#include "insight/job_trace.h"
#include "insight/severity.h"
#include "protocol/ids.h"

namespace ballast {

struct AnalyzeOptions {
  std::string where;  // a run's folder, the lead's address, or a file of `ballast trace --raw`
  std::string keys;
  Step steps = 20;
  bool all = false;  // what is as fast as its peers as well
  bool json = false;
};

// For people: a line for each that is slow, or for all. `trace`: what `found` comes from.
std::string severity_lines(const insight::JobTrace& trace, const std::vector<insight::Severity>& found, bool all);
// One object a line.
std::string severity_json(const std::vector<insight::Severity>& found);

// The exit code.
int analyze(const AnalyzeOptions& options);

}  // namespace ballast
