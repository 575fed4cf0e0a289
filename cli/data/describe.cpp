#include "cli/data/describe.h"

#include <cstdio>

#include "cli/data/described_files.h"
#include "cli/data/described_kinds.h"

namespace ballast {

Description describe(const DescribeOptions& options) {
  const auto spec = find_described(options);
  if (spec.name == "text") {
    return describe_text(options, spec);
  }
  if (spec.name == "trees") {
    return describe_trees(options, spec);
  }
  if (spec.name == "csv") {
    return describe_table(options, spec);
  }
  return spec.name == "npy" ? describe_arrays(options, spec) : describe_pixels(options, spec);
}

int describe_data(const DescribeOptions& options) {
  const auto found = describe(options);
  for (const auto& text : found.corrupt) {
    std::fprintf(stderr, "corrupt: %s\n", text.c_str());
  }
  std::fputs(found.section.c_str(), stdout);
  return 0;
}

}  // namespace ballast
