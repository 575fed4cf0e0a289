// Which of a model's parameters an item of training.parameter_groups is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/arena/parameter.h"
#include "common/job/spec.h"

namespace ballast {

// Whether the name is the pattern's, in which * stands for any characters or none.
bool matches(std::string_view pattern, std::string_view name);

// The first group that matches the parameter; nullptr if none does.
const ParameterGroup* group_of(const std::vector<ParameterGroup>& groups, const Parameter& parameter);

// A sentence for a user for each group that no parameter takes its settings from: because it matches none of those that
// are descended, or because earlier groups match them all.
std::vector<std::string> useless_groups(const std::vector<ParameterGroup>& groups,
                                        const std::vector<Parameter>& parameters);

}  // namespace ballast
