// What a run's folder tells without a lead.
#pragma once

#include <optional>
#include <string>

#include "protocol/messages.h"

namespace ballast {

// What the best validation of the folder's job is the best in; nothing if `where` is no run's folder, or its job file
// cannot be read.
std::optional<MetricKind> best_by_of_run(const std::string& where);

// Of a run's folder whose processes are gone and whose job has finished: its end as the lead would tell it, by the
// databases alone. What these do not hold (the last steps' losses, sessions) is empty, zero, or no number. Nothing
// otherwise, and where the databases cannot be read.
std::optional<Status> finished_run(const std::string& where);

// For people: "job digits finished, at step 937 of 937, ...", evaluations, and where the weights are.
std::string finished_lines(const Status& status, std::optional<MetricKind> best_by, const std::string& folder);

}  // namespace ballast
