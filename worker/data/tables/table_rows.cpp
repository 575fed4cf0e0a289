#include "worker/data/tables/table_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "common/job/words.h"
#include "worker/data/tables/written_numbers.h"

namespace ballast {
namespace {

// A job may name the first column with the byte-order mark that once was read as a part of it.
std::string_view without_mark(std::string_view name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return name.starts_with(kMark) ? name.substr(kMark.size()) : name;
}

char separator_of(const DataSpec& spec) {
  return spec.separator == "tab" ? '\t' : spec.separator == "semicolon" ? ';' : ',';
}

bool is_feature(const CsvColumn& column) {
  return column.kind == CsvColumn::Kind::number || column.kind == CsvColumn::Kind::category;
}

bool is_predicted(const CsvColumn& column) { return !is_feature(column) && column.kind != CsvColumn::Kind::ignored; }

}  // namespace

TableRows::ValuePlaces::ValuePlaces(const std::vector<std::string>& values) {
  for (const auto& value : values) {
    places_.emplace(value, places_.size());
  }
}

std::optional<std::size_t> TableRows::ValuePlaces::of(const std::string& value) const {
  const auto found = places_.find(value);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

TableRows::TableRows(const DataSpec& spec, const std::filesystem::path& path, Columns columns)
    : spec_(spec),
      columns_(columns),
      rows_(path, separator_of(spec)),
      classes_(spec.classes),
      missing_(spec.missing),
      places_(spec.columns.size()) {
  for (const auto& column : spec.columns) {
    values_.emplace_back(column.values);
  }
  if (spec.header) {
    place_by_names();
  }
}

bool TableRows::is_read(const CsvColumn& column) const { return columns_ == Columns::all || is_feature(column); }

std::optional<std::vector<std::string>> TableRows::names_line() {
  try {
    return rows_.next();
  } catch (const BadRow& bad) {
    throw std::runtime_error(rows_.where() + ": the line of names cannot be read: " + bad.what() +
                             "; correct it, or set data.header: false if the first line is an example");
  }
}

void TableRows::place_by_names() {
  const auto names = names_line();
  if (!names) {
    throw std::runtime_error(rows_.where() + ": the file is empty; its first line must name the columns");
  }
  fields_ = names->size();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& column = spec_.columns[i];
    const auto found = std::ranges::find(*names, without_mark(column.name));
    if (found != names->end()) {
      places_[i] = static_cast<std::size_t>(found - names->begin());
    } else if (is_read(column)) {
      throw std::runtime_error(rows_.where() + ": names no column " + shown(column.name) +
                               "; correct data.columns, or set data.header: false if the first line is an example");
    }
  }
}

// Without a header. Where only features are read, what is to be predicted may be left out of all rows alike.
void TableRows::place_by_number(std::size_t fields) {
  const auto without = places_.size() - static_cast<std::size_t>(std::ranges::count_if(spec_.columns, is_predicted));
  const bool lacks = columns_ == Columns::features && fields == without;
  std::size_t place = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!lacks || !is_predicted(spec_.columns[i])) {
      places_[i] = place++;
    }
  }
  fields_ = place;
}

const TableRow* TableRows::next() {
  const auto fields = rows_.next();
  if (!fields) {
    return nullptr;
  }
  if (!fields_) {
    place_by_number(fields->size());
  }
  read_row(*fields);
  return &row_;
}

void TableRows::read_row(const std::vector<std::string>& fields) {
  if (fields.size() != *fields_) {
    throw BadRow(std::min(fields.size(), *fields_), "the row has " + std::to_string(fields.size()) + " fields where " +
                                                        std::to_string(*fields_) +
                                                        " are needed; is data.separator right?");
  }
  row_.features.clear();
  row_.targets.clear();
  row_.label.reset();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (is_read(spec_.columns[i])) {
      add_field(i, fields[*places_[i]]);
    }
  }
}

void TableRows::add_field(std::size_t index, const std::string& field) {
  using enum CsvColumn::Kind;
  const auto& column = spec_.columns[index];
  const bool missing = column.kind != ignored && missing_.of(field).has_value();
  if (missing && is_predicted(column)) {
    refuse(index, "holds " + shown(field) + ", which says that the value is missing; a target must be there");
  }
  switch (column.kind) {
    case number:
      row_.features.push_back(missing ? 0.0F : number_of(index, field));
      break;
    case category:
      add_category(index, field, missing);
      break;
    case label:
      row_.label = class_of(index, field);
      break;
    case flag:
      row_.targets.push_back(flag_of(index, field));
      break;
    case target:
      row_.targets.push_back(number_of(index, field));
      break;
    case ignored:
      break;
  }
}

float TableRows::number_of(std::size_t index, const std::string& field) const {
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

void TableRows::add_category(std::size_t index, const std::string& field, bool missing) {
  const auto place = missing ? std::nullopt : values_[index].of(field);
  if (!missing && !place) {
    refuse(index, shown(field) + " is none of the column's values; add it to them, or name it in data.missing");
  }
  const auto begin = row_.features.size();
  row_.features.resize(begin + spec_.columns[index].values.size());
  if (place) {
    row_.features[begin + *place] = 1;
  }
}

std::int32_t TableRows::class_of(std::size_t index, const std::string& field) const {
  const auto place = classes_.of(field);
  if (!place) {
    refuse(index, shown(field) + " is none of data.classes; add it to them");
  }
  return static_cast<std::int32_t>(*place);
}

float TableRows::flag_of(std::size_t index, const std::string& field) const {
  if (field != "0" && field != "1") {
    refuse(index, shown(field) + " is neither 0 nor 1");
  }
  return field == "1" ? 1.0F : 0.0F;
}

void TableRows::refuse(std::size_t index, const std::string& what) const {
  throw BadRow(*places_[index] + 1, spec_.columns[index].name + ": " + what);
}

}  // namespace ballast
