// `ballast status`: how a running job stands, asked of its lead.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/job/spec.h"
#include "protocol/messages.h"

namespace ballast {

// For people, in several lines. `best_by`: what the best validation is the best in, if that is known. `data`: of the
// job, if it is known: it says in which units errors are.
std::string status_lines(const Status& status, std::optional<MetricKind> best_by = {}, const DataSpec* data = nullptr);

inline constexpr std::chrono::seconds kStatusPatience{5};

// Prints the status to standard output; `json` as one object, else for people. `where`: a run's folder or the lead's
// address. Of a folder whose job has finished and whose processes are gone, or go while the lead is asked: its end
// (cli/asking/finished_run.h), and so too if the lead does not answer though processes still live. Returns the exit
// code: 1 if the lead does not answer within `patience` and the job has not finished.
// `keys`: a file of an operator's; empty: none, or those of the run in the folder.
int show_status(const std::string& where, bool json, std::chrono::milliseconds patience = kStatusPatience,
                const std::string& keys = {});

}  // namespace ballast
