// `ballast status`: how a running job stands, asked of its lead.
#pragma once

#include <string>

#include "common/job/spec.h"
#include "protocol/messages.h"

namespace ballast {

// One JSON object with the fields of Status; phase times in microseconds; numbers that are not finite are null.
std::string status_json(const Status& status);

// For people, in several lines. `data`: of the job, if it is known: it says in which units errors are.
std::string status_lines(const Status& status, const DataSpec* data = nullptr);

// Prints the status to standard output; `json` as one object, else for people. `where`: a run's folder or the lead's
// address. Returns the exit code: 1 if the lead does not answer within a few seconds.
int show_status(const std::string& where, bool json);

}  // namespace ballast
