#include "cli/data/described_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/command/usage_error.h"
#include "common/job/words.h"

namespace ballast {
namespace {

struct KindOption {
  const char* name;
  bool is_given;
  std::vector<std::string> kinds;  // that have it
};

// Those that not all kinds have. npy refuses --normalise itself, and says what to do instead.
std::vector<KindOption> kind_options(const DescribeOptions& options) {
  return {
      {"--train-labels", !options.train_labels.empty(), {"idx", "npy"}},
      {"--test-labels", !options.test_labels.empty(), {"idx", "npy"}},
      {"--height", options.height > 0, {"images"}},
      {"--width", options.width > 0, {"images"}},
      {"--channels", options.channels > 0, {"images"}},
      {"--normalise", options.normalise, {"idx", "cifar10", "images", "csv", "npy"}},
      {"--strip-headers", options.strip.headers, {"text"}},
      {"--strip-quotes", options.strip.quotes, {"text"}},
      {"--strip-signature", options.strip.signature, {"text"}},
      {"--tree-labels", !options.tree_labels.empty(), {"trees"}},
      {"--separator", !options.separator.empty(), {"csv"}},
      {"--no-header", options.no_header, {"csv"}},
      {"--label", !options.label.empty(), {"csv"}},
      {"--flag", !options.flags.empty(), {"csv"}},
      {"--target", !options.targets.empty(), {"csv"}},
      {"--labels", !options.array_labels.empty(), {"npy"}},
  };
}

void check_kind(const DescribeOptions& options, const std::string& kind) {
  for (const auto& option : kind_options(options)) {
    if (option.is_given && std::ranges::find(option.kinds, kind) == option.kinds.end()) {
      throw UsageError(std::string(option.name) + ": a data set of kind " + kind + " has no such option; " +
                       comma_list(option.kinds) + (option.kinds.size() > 1 ? " have it" : " has it") +
                       ". Leave it out" +
                       (options.kind.empty() ? ", or say with --as what the files are" : ", or correct --as"));
    }
  }
}

void check_targets(const DescribeOptions& options) {
  std::vector<std::string> kinds;
  std::vector<std::string> columns;
  const auto take = [&](const char* option, const std::vector<std::string>& names) {
    if (!names.empty()) {
      kinds.emplace_back(option);
      columns.insert(columns.end(), names.begin(), names.end());
    }
  };
  take("--label", options.label.empty() ? std::vector<std::string>() : std::vector{options.label});
  take("--flag", options.flags);
  take("--target", options.targets);
  if (kinds.size() > 1) {
    throw UsageError(kinds[0] + " and " + kinds[1] +
                     ": a job predicts one class (--label), several classes (--flag) or numbers (--target); name "
                     "columns with one of them");
  }
  std::ranges::sort(columns);
  if (const auto twice = std::ranges::adjacent_find(columns); twice != columns.end()) {
    throw UsageError(kinds[0] + ": the column " + shown(*twice) + " is named twice; name it once");
  }
}

}  // namespace

void check_described_options(const DescribeOptions& options, const DataSpec& spec) {
  check_kind(options, spec.name);
  check_targets(options);
  if (!options.test_labels.empty() && spec.test.empty()) {
    throw UsageError("--test-labels: there is no test split that they belong to; name it with --test");
  }
}

}  // namespace ballast
