// `ballast analyze`: which worker, phase, link or shard is slower than its peers, by what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "insight/job_trace.h"
#include "insight/severity.h"
#include "insight/verdict.h"
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

// What it costs the job. None: it cannot be told.
std::string verdict_lines(const std::optional<insight::Verdict>& verdict);
// An object of the job, and one for each cause.
std::string verdict_json(const std::optional<insight::Verdict>& verdict);

// The exit code.
int analyze(const AnalyzeOptions& options);

}  // namespace ballast
