// What keys about images demand of each other.
#pragma once

#include <functional>
#include <string>

#include "common/job/spec.h"

namespace ballast {

// Calls `refuse` with a key and a sentence for each rule that the job's data and augmentation break. The rules are
// about the values alone: those of keys that could not be read are the caller's to leave out.
void check_images(const JobSpec& spec, const std::function<void(const std::string&, const std::string&)>& refuse);

}  // namespace ballast
