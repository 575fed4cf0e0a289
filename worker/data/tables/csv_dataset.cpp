// Tables: a row is an example, its columns become features and targets.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/job/words.h"
#include "worker/data/example_files.h"
#include "worker/data/tables/csv_rows.h"
#include "worker/data/tables/written_numbers.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMostFloats = 1U << 30U;  // of a split: 4 GiB

class TableSplit {
 public:
  [[nodiscard]] std::uint32_t count() const { return rows_; }
  void read(std::uint32_t index, const ExampleRoom& room) const {
    const auto copy = [&](const auto& values, auto to) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(index * to.size()), to.size(), to.begin());
    };
    copy(features_, room.features);
    copy(labels_, room.labels);
    copy(targets_, room.targets);
  }
  [[nodiscard]] std::int32_t label(std::uint32_t index) const { return labels_.empty() ? -1 : labels_[index]; }
  void keep_first(std::uint32_t count) {
    const auto rows = std::min(rows_, count);
    const auto cut = [&](auto& values) { values.resize(rows_ == 0 ? 0 : values.size() / rows_ * rows); };
    cut(features_);
    cut(labels_);
    cut(targets_);
    rows_ = rows;
  }
  void add_to(Sha256& digest) const {
    digest.update(std::as_bytes(std::span(features_)))
        .update(std::as_bytes(std::span(labels_)))
        .update(std::as_bytes(std::span(targets_)));
  }

  // One row's values; its label if rows have one.
  void add(const std::vector<float>& features, std::optional<std::int32_t> label, const std::vector<float>& targets) {
    if (features_.size() + targets_.size() > kMostFloats) {
      throw std::runtime_error("a split's rows have more than " + std::to_string(kMostFloats) +
                               " features in all (4 GiB); use fewer rows or columns");
    }
    features_.insert(features_.end(), features.begin(), features.end());
    targets_.insert(targets_.end(), targets.begin(), targets.end());
    if (label) {
      labels_.push_back(*label);
    }
    ++rows_;
  }

 private:
  std::uint32_t rows_ = 0;
  std::vector<float> features_;
  std::vector<std::int32_t> labels_;
  std::vector<float> targets_;
};

// The place of each of some texts in their list.
class ValuePlaces {
 public:
  explicit ValuePlaces(const std::vector<std::string>& values) {
    for (const auto& value : values) {
      places_.emplace(value, places_.size());
    }
  }
  [[nodiscard]] std::optional<std::size_t> of(const std::string& value) const {
    const auto found = places_.find(value);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, std::size_t> places_;
};

// A job may name the first column with the byte-order mark that once was read as a part of it.
std::string_view without_mark(std::string_view name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return name.starts_with(kMark) ? name.substr(kMark.size()) : name;
}

char separator_of(const DataSpec& spec) {
  return spec.separator == "tab" ? '\t' : spec.separator == "semicolon" ? ';' : ',';
}

// Rows of one file to examples.
class TableReader {
 public:
  explicit TableReader(const DataSpec& spec) : spec_(spec), classes_(spec.classes), missing_(spec.missing) {
    for (const auto& column : spec.columns) {
      values_.emplace_back(column.values);
    }
  }

  TableSplit read(const std::filesystem::path& path, std::uint32_t wanted, const char* key) {
    CsvRows rows(path, separator_of(spec_));
    find_columns(rows);
    CorruptExamples corrupt(spec_);
    TableSplit split;
    for (bool more = true; more;) {
      try {
        const auto fields = rows.next();
        more = fields.has_value();
        if (more) {
          add(*fields, split);
        }
      } catch (const BadRow& bad) {
        corrupt.found(rows.where() + ", column " + std::to_string(bad.column) + ": " + bad.what());
      }
    }
    left_out_ += corrupt.check(path, split.count(), wanted, key);
    return split;
  }

  // Corrupt examples of all that was read.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  // Where in a row each of data.columns stands.
  void find_columns(CsvRows& rows) {
    fields_ = spec_.columns.size();
    places_.clear();
    if (!spec_.header) {
      for (std::size_t i = 0; i < fields_; ++i) {
        places_.push_back(i);
      }
      return;
    }
    const auto names = rows.next();
    if (!names) {
      throw std::runtime_error(rows.where() + ": the file is empty; its first line must name the columns");
    }
    fields_ = names->size();
    for (const auto& column : spec_.columns) {
      const auto found = std::ranges::find(*names, without_mark(column.name));
      if (found == names->end()) {
        throw std::runtime_error(rows.where() + ": names no column " + shown(column.name) +
                                 "; correct data.columns, or set data.header: false if the first line is an example");
      }
      places_.push_back(static_cast<std::size_t>(found - names->begin()));
    }
  }

  void add(const std::vector<std::string>& fields, TableSplit& split) {
    if (fields.size() != fields_) {
      throw BadRow(std::min(fields.size(), fields_), "the row has " + std::to_string(fields.size()) + " fields where " +
                                                         std::to_string(fields_) +
                                                         " are needed; is data.separator right?");
    }
    features_.clear();
    targets_.clear();
    label_.reset();
    for (std::size_t i = 0; i < spec_.columns.size(); ++i) {
      add_field(i, fields[places_[i]]);
    }
    split.add(features_, label_, targets_);
  }

  void add_field(std::size_t index, const std::string& field) {
    using enum CsvColumn::Kind;
    const auto& column = spec_.columns[index];
    const bool missing = column.kind != ignored && missing_.of(field).has_value();
    if (missing && column.kind != number && column.kind != category) {
      refuse(index, "holds " + shown(field) + ", which says that the value is missing; a target must be there");
    }
    switch (column.kind) {
      case number:
        features_.push_back(missing ? 0.0F : number_of(index, field));
        break;
      case category:
        add_category(index, field, missing);
        break;
      case label:
        label_ = class_of(index, field);
        break;
      case flag:
        targets_.push_back(flag_of(index, field));
        break;
      case target:
        targets_.push_back(number_of(index, field));
        break;
      case ignored:
        break;
    }
  }

  [[nodiscard]] float number_of(std::size_t index, const std::string& field) const {
    const auto& column = spec_.columns[index];
    double value = 0;
    const auto* end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, value);
    if (field.empty() || error != std::errc() || stop != end || !std::isfinite(value)) {
      const auto fault = number_fault(field);
      refuse(index, shown(field) + (fault.empty() ? " is no number; if it says that the value is missing, name it in "
                                                    "data.missing"
                                                  : " " + fault));
    }
    const auto normal = static_cast<float>((value - column.mean) / column.deviation);
    if (!std::isfinite(normal)) {
      refuse(index, shown(field) + " is too large; correct the column's mean and deviation");
    }
    return normal;
  }

  void add_category(std::size_t index, const std::string& field, bool missing) {
    const auto place = missing ? std::nullopt : values_[index].of(field);
    if (!missing && !place) {
      refuse(index, shown(field) + " is none of the column's values; add it to them, or name it in data.missing");
    }
    const auto begin = features_.size();
    features_.resize(begin + spec_.columns[index].values.size());
    if (place) {
      features_[begin + *place] = 1;
    }
  }

  [[nodiscard]] std::int32_t class_of(std::size_t index, const std::string& field) const {
    const auto place = classes_.of(field);
    if (!place) {
      refuse(index, shown(field) + " is none of data.classes; add it to them");
    }
    return static_cast<std::int32_t>(*place);
  }

  [[nodiscard]] float flag_of(std::size_t index, const std::string& field) const {
    if (field != "0" && field != "1") {
      refuse(index, shown(field) + " is neither 0 nor 1");
    }
    return field == "1" ? 1.0F : 0.0F;
  }

  [[noreturn]] void refuse(std::size_t index, const std::string& what) const {
    throw BadRow(places_[index] + 1, spec_.columns[index].name + ": " + what);
  }

  const DataSpec& spec_;
  ValuePlaces classes_;
  ValuePlaces missing_;
  std::vector<ValuePlaces> values_;  // by column
  std::vector<std::size_t> places_;  // by column
  std::size_t fields_ = 0;           // of a row
  std::uint64_t left_out_ = 0;
  // Of one row:
  std::vector<float> features_;
  std::vector<float> targets_;
  std::optional<std::int32_t> label_;
};

}  // namespace

std::unique_ptr<Dataset> open_csv(const DataSpec& spec, const std::string& worker_path) {
  const auto root = example_root(spec, worker_path);
  TableReader reader(spec);
  auto train = reader.read(example_file(root, spec.train, "train"), spec.train_examples, "train_examples");
  auto test = spec.test.empty()
                  ? TableSplit()
                  : reader.read(example_file(root, spec.test, "test"), spec.test_examples, "test_examples");
  return std::make_unique<SplitDataset<TableSplit>>(spec, std::move(train), std::move(test), reader.left_out());
}

}  // namespace ballast
