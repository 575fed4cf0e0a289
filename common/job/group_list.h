// training.parameter_groups as a file has them.
#pragma once

#include <vector>

#include "common/job/spec.h"
#include "common/job/yaml_tree.h"

namespace ballast {

// Throws Unfit.
std::vector<ParameterGroup> read_groups(const YamlNode& node);

}  // namespace ballast
