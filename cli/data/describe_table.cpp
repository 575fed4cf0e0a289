// `ballast data describe` of tables: what each column holds.
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "cli/data/class_order.h"
#include "cli/data/described_kinds.h"
#include "cli/data/described_table.h"
#include "cli/data/portable_yaml.h"
#include "cli/data/section_text.h"
#include "common/job/words.h"
#include "worker/data/example_files.h"
#include "worker/data/tables/written_numbers.h"

namespace ballast {
namespace {

// Workers subtract and divide in double: nine digits would lose a small deviation beside a large mean.
std::string normalisation_text(const Moments& moments) {
  return ", mean: " + portable_number(number_text(moments.mean())) +
         ", deviation: " + portable_number(number_text(moments.deviation()));
}

std::string values_text(const ColumnFacts& facts) {
  return portable_list(in_class_order({facts.values().begin(), facts.values().end()}));
}

// "512 of 1000 values are numbers, the first that is none is 'abc'"
std::string numbers_text(const DescribedTable& table, std::size_t index) {
  const auto& facts = table.facts(index);
  return std::to_string(facts.numbers()) + " of " + std::to_string(facts.given()) +
         " values are numbers, the first that is none is " + shown(table.first_no_number(index));
}

// Whether a column may be meant to be of numbers.
bool is_half_numbers(const ColumnFacts& facts) { return facts.numbers() > 0 && 2 * facts.numbers() >= facts.given(); }

// Of a column that its values leave no other kind.
std::string why_ignored(const DescribedTable& table, std::size_t index) {
  const auto& facts = table.facts(index);
  if (!facts.unfit().empty()) {
    return facts.unfit() + ", which a job file cannot hold";
  }
  return "more than " + std::to_string(kMostValues) + " different texts" +
         (is_half_numbers(facts) ? "; " + numbers_text(table, index) : "");
}

// What becomes of a column: what an option says, or else what its values tell.
CsvColumn::Kind kind_of_column(const DescribedTable& table, std::size_t index) {
  using enum CsvColumn::Kind;
  const auto& facts = table.facts(index);
  if (const auto chosen = table.chosen(index)) {
    return *chosen;
  }
  return facts.is_number() ? number : !facts.is_empty() && facts.is_category() ? category : ignored;
}

// The flow map of a column, and perhaps why.
std::string column_text(const DescribedTable& table, std::size_t index, bool normalise) {
  using enum CsvColumn::Kind;
  const auto& facts = table.facts(index);
  const auto kind = kind_of_column(table, index);
  auto text = "- {name: " + portable_text(table.name(index)) + ", kind: " + name_of(kind);
  if (normalise && (kind == number || kind == target)) {
    text += normalisation_text(facts.moments());
  }
  if (kind == category) {
    text += ", values: [" + values_text(facts) + "]";
  }
  text += "}";
  if (kind == ignored && !table.chosen(index)) {
    text += "  # " + (facts.is_empty() ? "no row has a value" : why_ignored(table, index));
  }
  return text;
}

// A worker would refuse, or leave out, each row of such a column that holds no number: whether that, a category or
// nothing is meant, only the author can say.
void refuse_nearly_numbers(const DescribedTable& table) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < table.columns(); ++i) {
    if (!table.name(i).empty() && !table.chosen(i) && table.facts(i).is_nearly_number()) {
      found.push_back(i);
    }
  }
  if (found.empty()) {
    return;
  }
  const auto& facts = table.facts(found[0]);
  const auto name = shell_word(table.name(found[0]));
  const auto fault = number_fault(table.first_no_number(found[0]));
  auto text = table.where_no_number(found[0]) + " " +
              (fault.empty() ? "is no number; correct it, or leave the field empty where a value is missing" : fault) +
              " (" + std::to_string(facts.given() - facts.numbers()) + " of the column's " +
              std::to_string(facts.given()) +
              " values are no numbers as they stand). Or say what the column is: --number " + name +
              " leaves out the rows where it is no number, --category " + name + " takes its texts, --ignore " + name +
              " passes it over";
  std::vector<std::string> others;
  for (std::size_t i = 1; i < found.size(); ++i) {
    others.push_back(shown(table.name(found[i])));
  }
  throw std::runtime_error(text + (others.empty() ? "" : ". So it is with " + comma_list(others)));
}

// Columns that nobody said to ignore or to take as texts, though half of their values or more are numbers.
void warn_of_half_numbers(const DescribedTable& table, std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < table.columns(); ++i) {
    const auto kind = kind_of_column(table, i);
    if (!table.name(i).empty() && !table.chosen(i) && kind != CsvColumn::Kind::number &&
        is_half_numbers(table.facts(i))) {
      warnings.push_back("the column " + shown(table.name(i)) +
                         (kind == CsvColumn::Kind::ignored ? " is ignored: " : " becomes a category: ") +
                         numbers_text(table, i) + " (" + table.where_no_number(i) +
                         "); if it is of numbers, say --number " + shell_word(table.name(i)));
    }
  }
}

// Of columns that an option says are categories.
void require_categories(const DescribedTable& table) {
  for (std::size_t i = 0; i < table.columns(); ++i) {
    const auto& facts = table.facts(i);
    if (table.chosen(i) != CsvColumn::Kind::category) {
      continue;
    }
    const auto begin = "--category " + table.name(i) + ": the column ";
    if (!facts.unfit().empty()) {
      throw std::runtime_error(begin + "has a value that a job file cannot hold: " + facts.unfit() +
                               "; change it, and save the file as UTF-8");
    }
    if (facts.is_crowded() || facts.is_empty()) {
      throw std::runtime_error(begin +
                               (facts.is_empty() ? "has no value"
                                                 : "has more than " + std::to_string(kMostClasses) +
                                                       " different values, which are no categories") +
                               "; say --ignore " + shell_word(table.name(i)));
    }
  }
}

// The first value that is a number, but no whole one; nothing if none is, or some are no numbers.
std::optional<std::string> first_fraction(const ColumnFacts& facts) {
  if (!facts.is_number()) {
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(facts.values(), [](const std::string& value) {
    const auto number = number_in(value);
    return number && *number != std::floor(*number);
  });
  return found == facts.values().end() ? std::nullopt : std::optional(*found);
}

// Numbers to be predicted, and names of rows, look like very many classes.
void check_label(const DescribedTable& table, std::size_t index, std::vector<std::string>& warnings) {
  constexpr std::uint64_t kFewRows = 20;  // of which each may well be of a class of its own
  const auto& facts = table.facts(index);
  const auto name = shell_word(table.name(index));
  const auto fraction = first_fraction(facts);
  const auto classes = facts.values().size();
  const bool one_each = facts.given() >= kFewRows && 2 * classes > facts.given();
  if (!facts.is_crowded() && !fraction && !one_each) {
    return;
  }
  const auto text = "--label " + name + ": the column has " + (facts.is_crowded() ? "more than " : "") +
                    std::to_string(facts.is_crowded() ? kMostClasses : classes) + " different values in " +
                    std::to_string(facts.given()) + " rows" +
                    (fraction ? ", some of them, such as " + *fraction + ", no whole numbers" : "");
  const auto meant = facts.is_number() ? "did you mean --target " + name + ", a number to be predicted?"
                                       : "is it the name of each row? Then name another column";
  if (classes > kMostValues) {
    throw std::runtime_error(text + ", which are no classes; " + meant);
  }
  warnings.push_back(text + ", each of which becomes a class; " + meant);
}

// Of a label's column; otherwise none.
std::vector<std::string> classes_of(const DescribedTable& table, std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < table.columns(); ++i) {
    if (table.chosen(i) == CsvColumn::Kind::label) {
      const auto& facts = table.facts(i);
      const auto begin = "--label " + table.name(i) + ": the column ";
      if (!facts.unfit().empty()) {
        throw std::runtime_error(begin + "has a value that a job file cannot hold: " + facts.unfit() +
                                 "; rename it, and save the file as UTF-8");
      }
      if (facts.values().size() < 2) {
        throw std::runtime_error(begin + "has one value alone, " + shown(*facts.values().begin()) +
                                 "; at least two classes are needed: name another column, or other files");
      }
      check_label(table, i, warnings);
      return in_class_order({facts.values().begin(), facts.values().end()});
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
  using enum CsvColumn::Kind;
  std::string why;  // of the first column that might have been one
  for (std::size_t i = 0; i < table.columns(); ++i) {
    const auto& facts = table.facts(i);
    const auto kind = kind_of_column(table, i);
    if (!table.name(i).empty() && (kind == number || kind == category)) {
      return;
    }
    if (why.empty() && !facts.unfit().empty() && !table.chosen(i)) {
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
  refuse_nearly_numbers(table);
  require_categories(table);
  require_feature(table, path.string());
  Description found{.section = {}, .corrupt = texts_of(train.corrupt, test.corrupt)};
  const auto classes = classes_of(table, found.warnings);
  warn_of_half_numbers(table, found.warnings);
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
