#include "cli/data/describe.h"

#include <cstdio>
#include <stdexcept>

#include "cli/data/described_files.h"
#include "cli/data/described_kinds.h"
#include "cli/data/described_options.h"
#include "common/job/load.h"
#include "common/job/yaml_tree.h"
#include "common/text/text.h"

namespace ballast {
namespace {

constexpr std::size_t kLongestLine = 4096;  // of what is told; names from elsewhere may be in it

Description described(const DescribeOptions& options, const DataSpec& spec) {
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

// A job file must be able to hold what is told. Which model would fit is for its author to say.
void check_section(const std::string& root, const std::string& section) {
  if (section.size() > kMaxYamlBytes) {
    throw std::runtime_error(root + ": the section would have " + std::to_string(section.size()) +
                             " bytes, more than a job file's " + std::to_string(kMaxYamlBytes) +
                             "; use fewer classes or columns, or shorter names");
  }
  const std::string label = "the section";
  try {
    parse_job("job: described\nmodel: {name: autoencoder}\ntraining: {max_steps: 1, batch: 1, slots: 1}\n" + section,
              label);
  } catch (const ConfigError& error) {
    for (const auto& mistake : error.errors()) {
      const auto key = mistake.find(": ") + 2;
      if (!mistake.substr(key).starts_with("model.")) {
        throw std::runtime_error(root + ": no job can have what lies there: " + mistake.substr(key));
      }
    }
  }
}

}  // namespace

Description describe(const DescribeOptions& options) {
  const auto [spec, warnings] = find_described(options);
  check_described_options(options, spec);
  auto found = described(options, spec);
  found.warnings.insert(found.warnings.begin(), warnings.begin(), warnings.end());
  if (found.is_whole) {
    check_section(spec.path, found.section);
  }
  return found;
}

int describe_data(const DescribeOptions& options) {
  const auto found = describe(options);
  for (const auto& text : found.warnings) {
    std::fprintf(stderr, "warning: %s\n", as_line(text, kLongestLine).c_str());
  }
  for (const auto& text : found.corrupt) {
    std::fprintf(stderr, "corrupt: %s\n", as_line(text, kLongestLine).c_str());
  }
  std::fputs(found.section.c_str(), stdout);
  return 0;
}

}  // namespace ballast
