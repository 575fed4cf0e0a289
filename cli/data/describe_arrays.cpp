// `ballast data describe` of NumPy's arrays.
#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "cli/data/described_kinds.h"
#include "cli/data/portable_yaml.h"
#include "cli/data/section_text.h"
#include "common/job/words.h"
#include "worker/data/arrays/array_faults.h"
#include "worker/data/arrays/npy_rows.h"

namespace ballast {
namespace {

constexpr std::uint64_t kEndOfClasses = 1U << 20U;  // of a label that is a whole number; as data.outputs
constexpr std::uint64_t kMostFeatures = 1U << 24U;  // of an example that a job may have
constexpr std::uint64_t kUsualClasses = 10000;      // more than these, and more than rows, are no classes

std::string array_where(const DataSpec& spec, const std::string& name) { return spec.path + ": array " + name; }

template <class Extent>
std::vector<std::string> words_of(const std::vector<Extent>& extents) {
  std::vector<std::string> words;
  for (const auto extent : extents) {
    words.push_back(std::to_string(extent));
  }
  return words;
}

std::string array_shape(const NpyHeader& header) {
  const auto extents = words_of(header.shape);
  return "(" + comma_list(extents) + (extents.size() == 1 ? ",)" : ")");
}

// An array with rows, each of at least one value and at most `most`. `needed` says what shape it should have.
NpyRows open_rows(const DataSpec& spec, const std::string& name, std::uint64_t most, const std::string& needed) {
  NpyRows rows(spec.path, name);
  const auto& shape = rows.header().shape;
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(array_where(spec, name) + " has shape " + array_shape(rows.header()) + ": " + what +
                             "; reshape it, or name another array");
  };
  if (shape.empty()) {
    fail("a single value, but " + needed);
  }
  if (shape[0] == 0 || shape[0] > UINT32_MAX) {
    fail(shape[0] == 0 ? "no row" : "more than 2^32 - 1 rows");
  }
  std::uint64_t values = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i] == 0 || shape[i] > most / values) {
      fail(shape[i] == 0 ? "its rows have no value" : "its rows have more than " + std::to_string(most) + " values");
    }
    values *= shape[i];
  }
  return rows;
}

NpyRows open_features(const DataSpec& spec, const std::string& name) {
  auto rows = open_rows(spec, name, kMostFeatures, "rows of 1 to 3 extents are needed");
  const auto extents = rows.header().shape.size();
  constexpr std::size_t kMostExtents = 4;  // with the rows'
  if (extents < 2 || extents > kMostExtents) {
    throw std::runtime_error(array_where(spec, name) + " has " + std::to_string(extents) +
                             " extents; rows of 1 to 3 are needed; reshape it, or name another array");
  }
  return rows;
}

NpyRows open_labels(const DataSpec& spec, const std::string& name) {
  auto rows = open_rows(spec, name, kEndOfClasses, "one label for each row is needed");
  if (const auto extents = rows.header().shape.size(); extents > 2) {
    throw std::runtime_error(array_where(spec, name) + " has " + std::to_string(extents) +
                             " extents; labels are one value for each row, or one row of values; reshape it, or name "
                             "another array");
  }
  return rows;
}

// A split as its headers tell it.
struct ArrayPair {
  std::string features;
  std::string labels;
  NpyHeader features_header;
  NpyHeader labels_header;
};

ArrayPair headers_of(const DataSpec& spec, const std::string& features, const std::string& labels) {
  ArrayPair pair{features, labels, open_features(spec, features).header(), open_labels(spec, labels).header()};
  const auto rows = pair.features_header.shape[0];
  const auto label_rows = pair.labels_header.shape[0];
  if (rows != label_rows) {
    throw std::runtime_error(array_where(spec, features) + " has " + std::to_string(rows) + " rows and " + labels +
                             " " + std::to_string(label_rows) +
                             "; they must be as many: name the labels of these very rows");
  }
  return pair;
}

// But for the rows, both splits have one shape.
void require_alike(const DataSpec& spec, const std::string& a, const NpyHeader& of_a, const std::string& b,
                   const NpyHeader& of_b) {
  if (!std::ranges::equal(std::span(of_a.shape).subspan(1), std::span(of_b.shape).subspan(1))) {
    throw std::runtime_error(array_where(spec, b) + " has shape " + array_shape(of_b) + " where " + a + " has " +
                             array_shape(of_a) + "; but for the rows both splits must have one shape");
  }
}

// What the labels of all splits are, infinities and what is not a number aside.
struct LabelFacts {
  bool of_rows = false;  // one value for each row, without an extent of its own
  std::uint32_t outputs = 1;
  std::uint64_t rows = 0;
  std::uint64_t classes = 0;  // rows that may be a class: one whole number from 0 on
  std::uint64_t largest = 0;  // of these
  bool whole = true;          // all values are whole numbers
  bool bits = true;           // all values are 0 or 1
  bool one_hot = true;        // of each row exactly one value is 1
  std::string no_class = {};  // the first row that cannot be a class, if there is one, and its value

  void add(std::span<const double> row, const std::string& where) {
    if (!std::ranges::all_of(row, [](double value) { return std::isfinite(value); })) {
      return;
    }
    ++rows;
    whole = whole && std::ranges::all_of(row, [](double value) { return value == std::floor(value); });
    bits = bits && std::ranges::all_of(row, [](double value) { return value == 0 || value == 1; });
    one_hot = one_hot && bits && std::ranges::count(row, 1) == 1;
    const auto label = row[0];
    if (label >= 0 && label < static_cast<double>(kEndOfClasses) && label == std::floor(label)) {
      ++classes;
      largest = std::max(largest, static_cast<std::uint64_t>(label));
    } else if (no_class.empty()) {
      no_class = where + " has " + number_text(label);
    }
  }
};

void add_labels(const DataSpec& spec, const std::string& name, LabelFacts& facts) {
  auto rows = open_labels(spec, name);
  facts.of_rows = rows.header().shape.size() == 1;
  facts.outputs = static_cast<std::uint32_t>(rows.row_size());
  std::vector<double> row;
  for (std::uint64_t i = 0; rows.next(row); ++i) {
    facts.add(row, "row " + std::to_string(i) + " of " + name);
  }
}

// data.target, as the values tell it.
std::string target_of(const LabelFacts& facts) {
  if (!facts.of_rows) {
    return facts.bits ? "several" : "number";
  }
  const auto outputs = facts.largest + 1;
  const bool too_many = outputs > kUsualClasses && outputs > facts.rows;
  return facts.classes == facts.rows && !too_many ? "class" : "number";
}

void require_target(const DataSpec& spec, const LabelFacts& facts, const NpyHeader& labels) {
  if (spec.target == "class" && !facts.of_rows) {
    throw std::runtime_error(array_where(spec, spec.train_labels) + " has shape " + array_shape(labels) +
                             "; --labels class needs one number for each row: save y.reshape(-1) of a single column, "
                             "or y.argmax(axis=1) of one column for each class");
  }
  if (spec.target == "class" && facts.classes == 0) {
    throw std::runtime_error(array_where(spec, spec.train_labels) + ": no row is a class, a whole number from 0 to " +
                             std::to_string(kEndOfClasses - 1) + ": " + facts.no_class + "; say --labels number");
  }
}

// What else the labels may be, where their values alone do not tell.
std::vector<std::string> label_notes(const DataSpec& spec, const LabelFacts& facts, bool told) {
  const auto outputs = std::to_string(facts.outputs);
  if (told || spec.target == "class") {
    return {};
  }
  if (facts.of_rows) {
    const bool mostly = facts.classes > facts.rows / 2;
    if (!mostly) {
      return {};
    }
    return {(facts.no_class.empty() ? "labels reach " + std::to_string(facts.largest) + ", beyond the rows' number"
                                    : facts.no_class) +
            ", so labels are numbers to be predicted; if they are classes, say --labels class: rows without one are "
            "then left out"};
  }
  if (facts.outputs == 1 && facts.whole) {
    return {"labels have a column of their own; if they are classes, save y.reshape(-1)"};
  }
  if (facts.one_hot) {
    return {"each row has exactly one 1; if one of " + outputs +
            " classes is right, save y.argmax(axis=1): as it is, each class is decided by itself"};
  }
  if (!facts.bits && facts.whole && spec.shape.size() == 2 && spec.shape[0] == facts.outputs) {
    return {"a whole number for each of " + outputs +
            " steps; classes of steps are not read from arrays: these are numbers to be predicted"};
  }
  return {};
}

struct RowFacts {
  std::uint64_t good = 0;
  std::vector<std::uint64_t> by_class;  // if labels are classes
  CorruptList corrupt;
};

// As a worker reads the rows.
RowFacts read_rows(const DataSpec& spec, const std::string& features, const std::string& labels) {
  RowFacts facts;
  facts.by_class.resize(spec.target == "class" ? spec.outputs : 0);
  auto feature_rows = open_features(spec, features);
  auto label_rows = open_labels(spec, labels);
  std::vector<double> row;
  std::vector<double> label;
  for (std::uint64_t i = 0; feature_rows.next(row) && label_rows.next(label); ++i) {
    auto fault = feature_fault(row, spec.scale);
    fault = fault.empty() ? label_fault(label, spec.target, spec.outputs) : fault;
    if (!fault.empty()) {
      facts.corrupt.add(array_where(spec, features) + ", row " + std::to_string(i) + ": " + fault);
      continue;
    }
    ++facts.good;
    if (!facts.by_class.empty()) {
      ++facts.by_class[static_cast<std::size_t>(label[0])];
    }
  }
  if (facts.good == 0) {
    throw std::runtime_error(array_where(spec, features) + " has no row that can be read" + facts.corrupt.all_text());
  }
  return facts;
}

void tell_rows_of(const char* split, const RowFacts& facts, SectionText& section) {
  if (!facts.by_class.empty()) {
    std::vector<std::string> classes;
    for (std::size_t i = 0; i < facts.by_class.size(); ++i) {
      classes.push_back("of class " + std::to_string(i));
    }
    section.comment(class_counts(split, classes, facts.by_class, facts.corrupt.count()));
  } else if (facts.corrupt.count() > 0) {
    section.comment(std::string(split) + ": " + std::to_string(facts.corrupt.count()) + " corrupt rows are left out");
  }
  section.examples(split, facts.good);
}

// The headers of both splits, checked against each other; the scale and the shape.
std::vector<std::string> take_headers(DataSpec& spec) {
  std::vector<std::string> warnings;
  const auto train = headers_of(spec, spec.train, spec.train_labels);
  for (const auto extent : std::span(train.features_header.shape).subspan(1)) {
    spec.shape.push_back(static_cast<std::uint32_t>(extent));
  }
  bool bytes = train.features_header.type == "u1";
  if (!spec.test.empty()) {
    const auto test = headers_of(spec, spec.test, spec.test_labels);
    require_alike(spec, train.features, train.features_header, test.features, test.features_header);
    require_alike(spec, train.labels, train.labels_header, test.labels, test.labels_header);
    if (bytes != (test.features_header.type == "u1")) {
      warnings.push_back("of " + train.features + " and " + test.features +
                         " one has bytes and the other other numbers, which data.scale changes alike: nothing is "
                         "scaled; are the values of both between the same bounds?");
      bytes = false;
    }
  }
  constexpr double kWhite = 255;
  spec.scale = bytes ? 1 / kWhite : 1;
  return warnings;
}

// data.target and data.outputs.
LabelFacts take_labels(const DescribeOptions& options, DataSpec& spec) {
  LabelFacts facts;
  add_labels(spec, spec.train_labels, facts);
  if (!spec.test.empty()) {
    add_labels(spec, spec.test_labels, facts);
  }
  spec.target = options.array_labels.empty() ? target_of(facts) : options.array_labels;
  require_target(spec, facts, NpyRows(spec.path, spec.train_labels).header());
  spec.outputs = spec.target == "class" ? static_cast<std::uint32_t>(facts.largest + 1) : facts.outputs;
  return facts;
}

}  // namespace

Description describe_arrays(const DescribeOptions& options, DataSpec spec) {
  if (options.normalise) {
    throw std::runtime_error(spec.path +
                             ": --normalise: arrays have data.scale alone; normalise them where they are made, or use "
                             "a layer that normalises");
  }
  Description found;
  found.warnings = take_headers(spec);
  const auto labels = take_labels(options, spec);
  const auto train = read_rows(spec, spec.train, spec.train_labels);
  const auto test = spec.test.empty() ? RowFacts() : read_rows(spec, spec.test, spec.test_labels);
  if (spec.target == "class" && spec.outputs == 1) {
    found.warnings.push_back("all labels are 0: there is one class alone, and nothing to be told apart");
  }
  SectionText section(spec);
  section.text("train_labels", spec.train_labels);
  if (!spec.test.empty()) {
    section.text("test_labels", spec.test_labels);
  }
  section.raw("shape", "[" + comma_list(words_of(spec.shape)) + "]");
  section.number("outputs", spec.outputs);
  for (const auto& note : label_notes(spec, labels, !options.array_labels.empty())) {
    section.comment(note);
  }
  if (spec.target != "class") {
    section.raw("target", spec.target);
  }
  if (spec.scale != 1) {
    section.comment("bytes become numbers from 0 to 1");
    section.raw("scale", portable_number(number_text(spec.scale)));
  }
  tell_rows_of("train", train, section);
  if (!spec.test.empty()) {
    tell_rows_of("test", test, section);
  }
  found.corrupt = texts_of(train.corrupt, test.corrupt);
  section.corrupt(found.corrupt);
  found.section = section.yaml();
  return found;
}

}  // namespace ballast
