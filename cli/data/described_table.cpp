#include "cli/data/described_table.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include "cli/data/class_order.h"
#include "common/job/words.h"
#include "worker/data/example_files.h"
#include "worker/data/lines.h"
#include "worker/data/tables/csv_rows.h"
#include "worker/data/tables/written_numbers.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostColumns = 4096;  // that a job may name

// The one that the first line that is not empty has most of; a comma if it has none.
char separator_in(const fs::path& path, const std::string& named) {
  if (!named.empty()) {
    return named == "tab" ? '\t' : named == "semicolon" ? ';' : ',';
  }
  LineReader lines(path);
  std::string_view line;
  while (line.empty()) {
    const auto next = lines.next();
    if (!next) {
      break;
    }
    line = *next;
  }
  char best = ',';
  for (const char candidate : {'\t', ';'}) {
    if (std::ranges::count(line, candidate) > std::ranges::count(line, best)) {
      best = candidate;
    }
  }
  return best;
}

std::string no_number(const std::string& field) {
  const auto fault = number_fault(field);
  return fault.empty() ? " is no number" : " " + fault;
}

}  // namespace

DescribedTable::DescribedTable(const DescribeOptions& options, const DataSpec& spec)
    : options_(options), separator_(separator_in(example_file(spec.path, spec.train, "train"), options.separator)) {}

std::string DescribedTable::separator() const {
  return separator_ == '\t' ? "tab" : separator_ == ';' ? "semicolon" : "comma";
}

DescribedTable::Split DescribedTable::read(const fs::path& path, bool of_train) {
  CsvRows rows(path, separator_);
  Split split;
  bool first = true;
  for (bool more = true; more;) {
    try {
      const auto fields = rows.next();
      more = fields.has_value();
      if (more && first) {
        begin(rows.where(), *fields);
      }
      if (more && (!first || options_.no_header)) {
        add(rows.where(), *fields, of_train);
        ++split.rows;
      }
      first = first && !more;
    } catch (const BadRow& bad) {
      if (first && !options_.no_header) {
        throw std::runtime_error(rows.where() + ": the line of names cannot be read: " + bad.what());
      }
      split.corrupt.add(rows.where() + ", column " + std::to_string(bad.column) + ": " + bad.what());
    }
  }
  if (split.rows == 0) {
    throw std::runtime_error(path.string() + ": holds no row to learn from" +
                             (split.corrupt.count() > 0 ? split.corrupt.all_text()
                              : first                   ? "; the file is empty"
                                      : ", only a line of names; if that line is a row, say --no-header"));
  }
  return split;
}

void DescribedTable::begin(const std::string& where, const std::vector<std::string>& fields) {
  if (names_.empty()) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      names_.push_back(options_.no_header ? "column" + std::to_string(i + 1) : fields[i]);
    }
    check_names(where);
    facts_.resize(names_.size());
    no_number_.resize(names_.size());
    take_options(where);
    find_places(where, names_);
  } else {
    find_places(where, options_.no_header ? names_ : fields);
  }
}

// Workers look for columns by name, the first of each, in each file by itself.
void DescribedTable::find_places(const std::string& where, const std::vector<std::string>& names) {
  places_.assign(names_.size(), std::nullopt);
  fields_ = names.size();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].empty()) {
      continue;
    }
    const auto found = std::ranges::find(names, names_[i]);
    if (found == names.end()) {
      throw std::runtime_error(where + ": names no column " + shown(names_[i]) +
                               ", which the train split has; add it to this file, or take it out of the train split. "
                               "If this line names no columns, say --no-header");
    }
    places_[i] = static_cast<std::size_t>(found - names.begin());
  }
}

void DescribedTable::check_names(const std::string& where) const {
  if (names_.size() > kMostColumns) {
    throw std::runtime_error(where + ": has " + std::to_string(names_.size()) + " columns; a job names at most " +
                             std::to_string(kMostColumns) + ". Is --separator right?");
  }
  std::set<std::string> seen;
  for (const auto& name : names_) {
    if (const auto fault = unfit_text(name)) {
      throw std::runtime_error(where + ": the column's name " + *fault +
                               ", which a job file cannot hold: rename the column, save the file as UTF-8, or, if "
                               "this line names no columns, say --no-header");
    }
    if (!name.empty() && !seen.insert(name).second) {
      throw std::runtime_error(where + ": two columns are named " + shown(name) +
                               "; rename one, or, if this line names no columns, say --no-header");
    }
  }
}

void DescribedTable::take_options(const std::string& where) {
  using enum CsvColumn::Kind;
  chosen_.assign(names_.size(), std::nullopt);
  const auto mark = [&](const std::vector<std::string>& names, CsvColumn::Kind kind) {
    for (const auto& name : names) {
      const auto found = std::ranges::find(names_, name);
      if (found == names_.end()) {
        throw std::runtime_error(where + ": there is no column " + shown(name) + "; they are " + comma_list(names_));
      }
      const auto index = static_cast<std::size_t>(found - names_.begin());
      chosen_[index] = kind;
      facts_[index].hold(kind == label || kind == category ? kMostClasses : kMostValues);
    }
  };
  mark(options_.label.empty() ? std::vector<std::string>() : std::vector{options_.label}, label);
  mark(options_.flags, flag);
  mark(options_.targets, target);
  mark(options_.numbers, number);
  mark(options_.categories, category);
  mark(options_.ignored, ignored);
}

void DescribedTable::add(const std::string& where, const std::vector<std::string>& fields, bool of_train) {
  if (fields.size() != fields_) {
    throw BadRow(std::min(fields.size(), fields_), "the row has " + std::to_string(fields.size()) + " fields where " +
                                                       std::to_string(fields_) + " are needed; is --separator right?");
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (places_[i]) {
      check_field(i, fields[*places_[i]]);
    }
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (places_[i] && facts_[i].add(fields[*places_[i]], of_train)) {
      const auto& field = fields[*places_[i]];
      no_number_[i] = {where + ", column " + std::to_string(*places_[i] + 1) + ": " + names_[i] + ": " + shown(field),
                       field};
    }
  }
}

// Of what an option says what it is.
void DescribedTable::check_field(std::size_t index, const std::string& field) const {
  using enum CsvColumn::Kind;
  const auto kind = chosen_[index];
  const auto bad_field = [&](const std::string& what) {
    throw BadRow(*places_[index] + 1, names_[index] + ": " + shown(field) + what);
  };
  if (kind == label && says_missing(field)) {
    bad_field(" is no class");
  }
  if (kind == flag && field != "0" && field != "1") {
    bad_field(" is no 0 or 1");
  }
  if ((kind == target || (kind == number && !says_missing(field))) && !number_in(field)) {
    bad_field(no_number(field));
  }
}

}  // namespace ballast
