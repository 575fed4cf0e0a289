#include "cli/data/described_options.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
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
      {"--number", !options.numbers.empty(), {"csv"}},
      {"--category", !options.categories.empty(), {"csv"}},
      {"--ignore", !options.ignored.empty(), {"csv"}},
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

using ColumnOption = std::pair<const char*, std::vector<std::string>>;

// Those that say what becomes of columns; those of what is predicted first.
std::vector<ColumnOption> column_options(const DescribeOptions& options) {
  return {{"--label", options.label.empty() ? std::vector<std::string>() : std::vector{options.label}},
          {"--flag", options.flags},
          {"--target", options.targets},
          {"--number", options.numbers},
          {"--category", options.categories},
          {"--ignore", options.ignored}};
}

void check_columns(const DescribeOptions& options) {
  constexpr std::size_t kPredicted = 3;  // of the options below
  const auto given = column_options(options);
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < kPredicted; ++i) {
    if (!given[i].second.empty()) {
      kinds.emplace_back(given[i].first);
    }
  }
  if (kinds.size() > 1) {
    throw UsageError(kinds[0] + " and " + kinds[1] +
                     ": a job predicts one class (--label), several classes (--flag) or numbers (--target); name "
                     "columns with one of them");
  }
  std::map<std::string, std::string> named;  // column: by which option
  for (const auto& [option, columns] : given) {
    for (const auto& column : columns) {
      const auto [before, is_new] = named.emplace(column, option);
      if (!is_new) {
        throw UsageError(std::string(option) + ": the column " + shown(column) + " is named twice" +
                         (before->second == option ? "" : ", with " + before->second + " before") + "; name it once");
      }
    }
  }
}

}  // namespace

void check_described_options(const DescribeOptions& options, const DataSpec& spec) {
  check_kind(options, spec.name);
  check_columns(options);
  if (!options.test_labels.empty() && spec.test.empty()) {
    throw UsageError("--test-labels: there is no test split that they belong to; name it with --test");
  }
}

}  // namespace ballast
