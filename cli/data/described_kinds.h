// The kinds of data sets that `ballast data describe` looks at, each of them in a file of its own.
#pragma once

#include "cli/data/describe.h"

namespace ballast {

// `spec` has the kind, the path and the files. All throw std::runtime_error that names the file and the remedy.
Description describe_pixels(const DescribeOptions& options, DataSpec spec);  // idx, cifar10, images
Description describe_text(const DescribeOptions& options, DataSpec spec);
Description describe_trees(const DescribeOptions& options, DataSpec spec);
Description describe_table(const DescribeOptions& options, const DataSpec& spec);
Description describe_arrays(const DescribeOptions& options, DataSpec spec);

}  // namespace ballast
