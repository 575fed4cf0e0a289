// What of a job does not go together with a moving average of its weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// Calls `mistake` for each: the key that is refused, those that it is at odds with, and a sentence for a user.
void check_weight_average(const JobSpec& spec,
                          const std::function<void(const std::string& key, const std::vector<std::string>& with,
                                                   const std::string& text)>& mistake);

}  // namespace ballast
