#include "common/job/example_file_checks.h"

#include <algorithm>
#include <vector>

#include "common/job/words.h"

namespace ballast {
namespace {

constexpr std::uint32_t kBytes = 256;  // that text consists of
constexpr std::uint64_t kMostFeatures = 1U << 24U;

struct Needed {
  const char* path;
  bool given;
  const char* example;
};

// A key that a set cannot do without: servers know examples by these alone.
void check_needed(const DataSpec& data, const Refuse& refuse, const std::vector<Needed>& needed) {
  for (const auto& key : needed) {
    if (!key.given) {
      refuse(key.path, "is missing; data.name: " + data.name + " needs it, e.g. " + key.example +
                           "; docs/data-text.md shows a whole section");
    }
  }
}

void check_all(const DataSpec& data, const Refuse& refuse) {
  check_needed(data, refuse,
               {{"data.train", !data.train.empty(), "train"},
                {"data.train_examples", data.train_examples > 0, "11314"},
                {"data.test", data.test_examples == 0 || !data.test.empty() || data.name == "characters", "test"}});
  if (!data.test.empty() && data.test_examples == 0) {
    refuse("data.test_examples", "is missing; data.test names examples that nobody would evaluate; say how many");
  }
}

void check_sequences(const DataSpec& data, const Refuse& refuse) {
  const bool characters = data.name == "characters";
  check_needed(data, refuse,
               {{"data.steps", data.steps > 0, "256"},
                {"data.vocabulary", data.vocabulary > 0, characters ? "256" : "20000"},
                {"data.vocabulary_file", characters || !data.vocabulary_file.empty(), "vocabulary.txt"}});
  if (characters && data.vocabulary > 0 && data.vocabulary < kBytes) {
    refuse("data.vocabulary", std::to_string(data.vocabulary) + " is less than the 256 bytes that text consists of; " +
                                  "allowed: 256, or 256 and the pairs of data.vocabulary_file");
  }
  if (characters && data.vocabulary > kBytes && data.vocabulary_file.empty()) {
    refuse("data.vocabulary", std::to_string(data.vocabulary) +
                                  " without data.vocabulary_file; 256 where each byte is a token, or name the file");
  }
}

void check_classes(const DataSpec& data, const Refuse& refuse) {
  if (data.classes.size() < 2) {
    refuse("data.classes", data.classes.empty() ? "is missing; data.name: " + data.name +
                                                      " needs the names of the classes, e.g. [negative, positive]"
                                                : "names one class alone; at least two are needed");
  }
  if (data.tree_labels == "polarity" && data.classes.size() > 2) {
    refuse("data.classes", "names " + std::to_string(data.classes.size()) +
                               " classes; with data.tree_labels: polarity there are two, e.g. [negative, positive]");
  }
}

void check_columns(const DataSpec& data, const Refuse& refuse) {
  if (data.columns.empty()) {
    refuse("data.columns",
           "is missing; data.name: csv needs it, e.g. [{name: age, kind: number}, {name: sold, kind: label}]");
    return;
  }
  const auto count = [&](CsvColumn::Kind kind) { return std::ranges::count(data.columns, kind, &CsvColumn::kind); };
  const auto labels = count(CsvColumn::Kind::label);
  const auto flags = count(CsvColumn::Kind::flag);
  const auto targets = count(CsvColumn::Kind::target);
  if (labels > 1 || (labels > 0) + (flags > 0) + (targets > 0) != 1) {
    refuse("data.columns",
           "exactly one kind of target is needed: one column of kind: label, or columns of kind: flag, or of kind: "
           "target; they are " +
               std::to_string(labels) + ", " + std::to_string(flags) + " and " + std::to_string(targets));
  } else if (labels == 1) {
    check_classes(data, refuse);
  } else if (!data.classes.empty()) {
    refuse("data.classes", "means nothing without a column of kind: label; remove it");
  }
  if (count(CsvColumn::Kind::number) + count(CsvColumn::Kind::category) == 0) {
    refuse("data.columns", "no column is a feature; at least one of kind: number or category is needed");
  }
}

void check_arrays(const DataSpec& data, const Refuse& refuse) {
  check_needed(data, refuse,
               {{"data.train_labels", !data.train_labels.empty(), "y_train"},
                {"data.test_labels", data.test.empty() || !data.test_labels.empty(), "y_test"},
                {"data.shape", !data.shape.empty(), "[784]"},
                {"data.outputs", data.outputs > 0, "10"}});
  if (data.shape.size() > 3) {
    refuse("data.shape", "has " + std::to_string(data.shape.size()) +
                             " extents; allowed: [features], [steps, features] or [channels, height, width]");
  }
  std::uint64_t features = 1;
  for (const auto extent : data.shape) {
    features = std::min(kMostFeatures + 1, features * extent);
  }
  if (features > kMostFeatures) {
    refuse("data.shape", "has more than " + std::to_string(kMostFeatures) + " features; make examples smaller");
  }
}

}  // namespace

void check_example_files(const DataSpec& data, const Refuse& refuse) {
  if (!is_example_files(data)) {
    return;
  }
  check_all(data, refuse);
  if (data.name == "csv") {
    check_columns(data, refuse);
  } else if (data.name == "npy") {
    check_arrays(data, refuse);
  } else {
    check_sequences(data, refuse);
    if (data.name != "characters") {
      check_classes(data, refuse);
    }
  }
}

}  // namespace ballast
