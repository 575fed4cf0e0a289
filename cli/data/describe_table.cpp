// `ballast data describe` of tables: what each column holds.
#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>

#include "cli/data/class_order.h"
#include "cli/data/described_columns.h"
#include "cli/data/described_kinds.h"
#include "cli/data/section_text.h"
#include "common/job/words.h"
#include "common/job/yaml_tree.h"
#include "worker/data/example_files.h"
#include "worker/data/lines.h"
#include "worker/data/tables/csv_rows.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostColumns = 4096;  // that a job may name

std::string separator_name(char separator) {
  return separator == '\t' ? "tab" : separator == ';' ? "semicolon" : "comma";
}

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

class DescribedTable {
 public:
  DescribedTable(const DescribeOptions& options, const DataSpec& spec)
      : options_(options), separator_(separator_in(example_file(spec.path, spec.train, "train"), options.separator)) {}

  // The train split first: its first row says how many columns there are, and their names.
  struct Split {
    std::uint64_t rows = 0;
    CorruptList corrupt;
  };
  Split read(const fs::path& path, bool of_train) {
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
          add(*fields, of_train);
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
                                                          : ", only a line of names") +
                               (options_.no_header || first ? "" : "; if that line is a row, say --no-header"));
    }
    return split;
  }

  [[nodiscard]] std::size_t columns() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t index) const { return names_[index]; }
  [[nodiscard]] const ColumnFacts& facts(std::size_t index) const { return facts_[index]; }
  [[nodiscard]] CsvColumn::Kind target_kind(std::size_t index) const { return targets_[index]; }
  [[nodiscard]] std::string separator() const { return separator_name(separator_); }

 private:
  void begin(const std::string& where, const std::vector<std::string>& fields) {
    if (names_.empty()) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        names_.push_back(options_.no_header ? "column" + std::to_string(i + 1) : fields[i]);
      }
      check_names(where);
      facts_.resize(names_.size());
      find_targets(where);
    } else if (!options_.no_header && fields != names_) {
      throw std::runtime_error(where +
                               ": names other columns than the train split; is there no line of names? Then "
                               "say --no-header");
    }
  }

  void check_names(const std::string& where) const {
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

  void find_targets(const std::string& where) {
    targets_.assign(names_.size(), CsvColumn::Kind::ignored);
    const auto mark = [&](const std::string& name, CsvColumn::Kind kind) {
      const auto found = std::ranges::find(names_, name);
      if (found == names_.end()) {
        throw std::runtime_error(where + ": there is no column " + shown(name) + "; they are " + comma_list(names_));
      }
      const auto index = static_cast<std::size_t>(found - names_.begin());
      targets_[index] = kind;
      facts_[index].hold(kind == CsvColumn::Kind::label ? kMostClasses : kMostValues);
    };
    if (!options_.label.empty()) {
      mark(options_.label, CsvColumn::Kind::label);
    }
    for (const auto& name : options_.flags) {
      mark(name, CsvColumn::Kind::flag);
    }
    for (const auto& name : options_.targets) {
      mark(name, CsvColumn::Kind::target);
    }
  }

  void add(const std::vector<std::string>& fields, bool of_train) {
    if (fields.size() != names_.size()) {
      throw BadRow(std::min(fields.size(), names_.size()), "the row has " + std::to_string(fields.size()) +
                                                               " fields where " + std::to_string(names_.size()) +
                                                               " are needed; is --separator right?");
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      check_target(i, fields[i]);
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      facts_[i].add(fields[i], of_train);
    }
  }

  void check_target(std::size_t index, const std::string& field) const {
    using enum CsvColumn::Kind;
    const auto kind = targets_[index];
    const bool bad = (kind == label && says_missing(field)) || (kind == flag && field != "0" && field != "1") ||
                     (kind == target && !number_in(field));
    if (bad) {
      throw BadRow(index + 1, names_[index] + ": " + shown(field) + " is no " +
                                  (kind == label  ? "class"
                                   : kind == flag ? "0 or 1"
                                                  : "number"));
    }
  }

  const DescribeOptions& options_;
  char separator_;
  std::vector<std::string> names_;
  std::vector<ColumnFacts> facts_;        // by column
  std::vector<CsvColumn::Kind> targets_;  // by column; ignored: it is no target
};

// Workers subtract and divide in double: nine digits would lose a small deviation beside a large mean.
std::string normalisation_text(const Moments& moments) {
  return ", mean: " + number_text(moments.mean()) + ", deviation: " + number_text(moments.deviation());
}

// The flow map of a column, and perhaps why.
std::string column_text(const DescribedTable& table, std::size_t index, bool normalise) {
  using enum CsvColumn::Kind;
  const auto& facts = table.facts(index);
  const auto begin = "- {name: " + yaml_quoted(table.name(index)) + ", kind: ";
  const auto normalisation = normalise ? normalisation_text(facts.moments()) : "";
  switch (table.target_kind(index)) {
    case label:
      return begin + "label}";
    case flag:
      return begin + "flag}";
    case target:
      return begin + "target" + normalisation + "}";
    default:
      break;
  }
  if (facts.is_empty()) {
    return begin + "ignored}  # no row has a value";
  }
  if (facts.is_number()) {
    return begin + "number" + normalisation + "}";
  }
  if (facts.is_category()) {
    return begin + "category, values: [" + yaml_listed(in_class_order({facts.values().begin(), facts.values().end()})) +
           "]}";
  }
  return begin + "ignored}  # " +
         (!facts.unfit().empty() ? facts.unfit() + ", which a job file cannot hold"
                                 : "more than " + std::to_string(kMostValues) + " different texts");
}

// Of a label's column; otherwise none.
std::vector<std::string> classes_of(const DescribedTable& table) {
  for (std::size_t i = 0; i < table.columns(); ++i) {
    if (table.target_kind(i) == CsvColumn::Kind::label) {
      const auto& values = table.facts(i).values();
      const auto begin = "--label " + table.name(i) + ": the column ";
      if (!table.facts(i).unfit().empty()) {
        throw std::runtime_error(begin + "has a value that a job file cannot hold: " + table.facts(i).unfit() +
                                 "; rename it, and save the file as UTF-8");
      }
      if (table.facts(i).is_crowded()) {
        throw std::runtime_error(begin + "has more than " + std::to_string(kMostClasses) +
                                 " different values, which are no classes; is it a number to be predicted (--target)?");
      }
      if (values.size() < 2) {
        throw std::runtime_error(begin + "has one value alone, " + shown(*values.begin()) +
                                 "; at least two classes are needed: name another column, or other files");
      }
      return in_class_order({values.begin(), values.end()});
    }
  }
  return {};
}

// Two texts of one number are two classes to a worker.
void warn_of_equal_numbers(const std::vector<std::string>& classes, std::vector<std::string>& warnings) {
  for (std::size_t i = 1; i < classes.size(); ++i) {
    const auto number = number_in(classes[i]);
    if (number && number == number_in(classes[i - 1])) {
      warnings.push_back("the classes " + shown(classes[i - 1]) + " and " + shown(classes[i]) +
                         " are one number and two classes; write them alike in all rows");
    }
  }
}

void tell_missing(const DescribedTable& table, SectionText& section) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < table.columns(); ++i) {
    words.insert(table.facts(i).missing().begin(), table.facts(i).missing().end());
  }
  if (!words.empty()) {
    section.list("missing", {words.begin(), words.end()});
  }
}

bool has_target(const DescribeOptions& options) {
  return !options.label.empty() || !options.flags.empty() || !options.targets.empty();
}

void tell_columns(const DescribedTable& table, const DescribeOptions& options, SectionText& section) {
  if (!has_target(options)) {
    section.comment("nothing is to be predicted yet: name the columns with --label, --flag or --target");
  }
  section.line("columns:");
  for (std::size_t i = 0; i < table.columns(); ++i) {
    if (!table.name(i).empty()) {
      section.line("  " + column_text(table, i, options.normalise));
    }
  }
}

void require_feature(const DescribedTable& table, const std::string& where) {
  std::string why;  // of the first column that might have been one
  for (std::size_t i = 0; i < table.columns(); ++i) {
    const auto& facts = table.facts(i);
    if (!table.name(i).empty() && table.target_kind(i) == CsvColumn::Kind::ignored &&
        (facts.is_number() || facts.is_category())) {
      return;
    }
    if (why.empty() && !facts.unfit().empty() && table.target_kind(i) == CsvColumn::Kind::ignored) {
      why = table.name(i) + ": " + facts.unfit() + ", which a job file cannot hold; save the file as UTF-8. ";
    }
  }
  throw std::runtime_error(where + ": no column is left to learn from: " + why +
                           "At least one must hold numbers, or at most " + std::to_string(kMostValues) +
                           " different texts. Is --separator right?");
}

void tell_rows(const char* split, const DescribedTable::Split& facts, SectionText& section) {
  if (facts.corrupt.count() > 0) {
    section.comment(std::string(split) + ": " + std::to_string(facts.corrupt.count()) + " corrupt rows are left out");
  }
  section.examples(split, facts.rows);
}

}  // namespace

Description describe_table(const DescribeOptions& options, const DataSpec& spec) {
  DescribedTable table(options, spec);
  const auto path = example_file(spec.path, spec.train, "train");
  const auto train = table.read(path, true);
  const auto test =
      spec.test.empty() ? DescribedTable::Split() : table.read(example_file(spec.path, spec.test, "test"), false);
  require_feature(table, path.string());
  const auto classes = classes_of(table);
  Description found{.section = {}, .corrupt = texts_of(train.corrupt, test.corrupt)};
  warn_of_equal_numbers(classes, found.warnings);
  if (!has_target(options)) {
    found.is_whole = false;
    found.warnings.push_back(
        "nothing is to be predicted yet, and no job can have this section: name columns with --label, --flag or "
        "--target");
  }
  SectionText section(spec);
  section.raw("separator", table.separator());
  if (options.no_header) {
    section.raw("header", "false");
  }
  tell_missing(table, section);
  if (!classes.empty()) {
    section.list("classes", classes);
  }
  tell_columns(table, options, section);
  tell_rows("train", train, section);
  if (!spec.test.empty()) {
    tell_rows("test", test, section);
  }
  section.corrupt(found.corrupt);
  found.section = section.yaml();
  return found;
}

}  // namespace ballast
