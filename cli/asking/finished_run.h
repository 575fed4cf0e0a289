// What a run's folder tells without a lead.
#pragma once

#include <optional>
#include <string>

#include "common/job/job.h"
#include "protocol/messages.h"

namespace ballast {

// The job of a run's folder; nothing if `where` is none, or its job file cannot be read.
std::optional<Job> job_of_run(const std::string& where);

// What the job's best validation is the best in.
MetricKind best_by_of(const Job& job);

// Of a run's folder whose processes are gone and whose job has finished: its end as the lead would tell it, by the
// databases alone. What these do not hold (the last steps' losses, sessions) is empty, zero, or no number. Nothing
// otherwise, and where the databases cannot be read.
std::optional<Status> finished_run(const Job& job, const std::string& folder);

// The same, whether processes live or not: for when the lead is known to be gone.
std::optional<Status> finish_in_databases(const Job& job, const std::string& folder);

// Whether they hold it; nothing: they cannot be read.
std::optional<bool> holds_end(const std::string& folder);

// For people: "job digits finished, at step 937 of 937, ...", evaluations, and where the weights are.
std::string finished_lines(const Job& job, const Status& status, const std::string& folder);

// status_json() with null for all that the databases do not hold.
std::string finished_json(const Status& status, std::optional<MetricKind> best_by);

}  // namespace ballast
