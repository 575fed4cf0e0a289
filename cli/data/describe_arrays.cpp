// `ballast data describe` of NumPy's arrays.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cli/data/described_kinds.h"
#include "cli/data/section_text.h"
#include "common/job/words.h"
#include "worker/data/arrays/npy.h"

namespace ballast {
namespace {

constexpr double kEndOfClasses = 1U << 20U;  // of a label that is a whole number

// What the labels of a split are.
struct LabelFacts {
  std::uint64_t rows = 0;
  std::uint32_t outputs = 1;  // of a row
  bool of_rows = false;       // one value for each row, without an extent of its own
  bool whole = true;          // all are whole numbers from 0 on
  bool bits = true;           // all are 0 or 1
  double largest = 0;
};

LabelFacts labels_of(const DataSpec& spec, const std::string& name) {
  const auto array = read_array(spec.path, name);
  const auto& shape = array.header.shape;
  if (shape.empty() || shape.size() > 2) {
    throw std::runtime_error(spec.path + ": array " + name + " has " + std::to_string(shape.size()) +
                             " extents; labels are one value for each row, or one row of values; name another array");
  }
  LabelFacts facts{.rows = shape[0], .of_rows = shape.size() == 1};
  facts.outputs = facts.of_rows ? 1 : static_cast<std::uint32_t>(std::min<std::uint64_t>(shape[1], UINT32_MAX));
  for (std::uint64_t i = 0; i < array.size(); ++i) {
    const double value = array.at(i);
    facts.whole = facts.whole && value >= 0 && value < kEndOfClasses && value == std::floor(value);
    facts.bits = facts.bits && (value == 0 || value == 1);
    facts.largest = facts.whole ? std::max(facts.largest, value) : 0;
  }
  return facts;
}

// Of both splits together.
LabelFacts joined(const LabelFacts& a, const LabelFacts& b) {
  LabelFacts all = a;
  all.whole = a.whole && b.whole;
  all.bits = a.bits && b.bits;
  all.largest = std::max(a.largest, b.largest);
  return all;
}

void tell_labels(const LabelFacts& facts, SectionText& section) {
  const bool classes = facts.of_rows && facts.whole;
  if (classes) {
    section.number("outputs", static_cast<std::uint64_t>(facts.largest) + 1);
    return;
  }
  section.number("outputs", facts.outputs);
  section.raw("target", !facts.of_rows && facts.bits ? "several" : "number");
}

struct FeatureFacts {
  std::uint64_t rows = 0;
  std::vector<std::string> shape;  // of one example
  bool bytes = false;              // from 0 to 255
};

FeatureFacts features_of(const DataSpec& spec, const std::string& name) {
  const auto header = read_array(spec.path, name).header;
  constexpr std::size_t kMostExtents = 4;  // with the rows'
  if (header.shape.size() < 2 || header.shape.size() > kMostExtents) {
    throw std::runtime_error(spec.path + ": array " + name + " has " + std::to_string(header.shape.size()) +
                             " extents; rows of 1 to 3 are needed; reshape it, or name another array");
  }
  FeatureFacts facts{.rows = header.shape[0], .shape = {}, .bytes = header.type == "u1"};
  for (std::size_t i = 1; i < header.shape.size(); ++i) {
    facts.shape.push_back(std::to_string(header.shape[i]));
  }
  return facts;
}

void check_rows(const DataSpec& spec, const std::string& features, std::uint64_t rows, const std::string& labels,
                std::uint64_t label_rows) {
  if (rows != label_rows) {
    throw std::runtime_error(spec.path + ": array " + features + " has " + std::to_string(rows) + " rows and " +
                             labels + " " + std::to_string(label_rows) + "; they must be as many");
  }
}

}  // namespace

Description describe_arrays(const DescribeOptions& options, DataSpec spec) {
  if (options.normalise) {
    throw std::runtime_error(spec.path +
                             ": --normalise: arrays have data.scale alone; normalise them where they are made, or use "
                             "a layer that normalises");
  }
  const auto train = features_of(spec, spec.train);
  auto labels = labels_of(spec, spec.train_labels);
  check_rows(spec, spec.train, train.rows, spec.train_labels, labels.rows);
  std::uint64_t test_rows = 0;
  if (!spec.test.empty()) {
    test_rows = features_of(spec, spec.test).rows;
    const auto of_test = labels_of(spec, spec.test_labels);
    check_rows(spec, spec.test, test_rows, spec.test_labels, of_test.rows);
    labels = joined(labels, of_test);
  }
  SectionText section(spec);
  section.text("train_labels", spec.train_labels);
  if (!spec.test.empty()) {
    section.text("test_labels", spec.test_labels);
  }
  section.raw("shape", "[" + comma_list(train.shape) + "]");
  tell_labels(labels, section);
  if (train.bytes) {
    constexpr double kWhite = 255;
    section.comment("bytes become numbers from 0 to 1");
    section.raw("scale", number_text(1 / kWhite));
  }
  section.number("train_examples", train.rows);
  if (!spec.test.empty()) {
    section.number("test_examples", test_rows);
  }
  return {section.yaml(), {}};
}

}  // namespace ballast
