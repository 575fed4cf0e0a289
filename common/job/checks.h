// What keys demand of each other.
#pragma once

#include <string>
#include <vector>

#include "common/job/given.h"
#include "common/job/spec.h"

namespace ballast {

// Adds a mistake for each rule that the job breaks. `unreadable` are keys whose values are not in the spec: rules about
// them are left out, so that one slip is told once.
void check_job(const Schema& schema, const JobSpec& spec, const Given& given,
               const std::vector<std::string>& unreadable, Mistakes& mistakes);

}  // namespace ballast
