// Which options of `ballast data describe` go together.
#pragma once

#include <string>

#include "cli/data/describe.h"

namespace ballast {

// Throws UsageError for an option that data sets of this kind do not have, and for those that contradict each other:
// what somebody asks for is never passed over.
void check_described_options(const DescribeOptions& options, const DataSpec& spec);

}  // namespace ballast
