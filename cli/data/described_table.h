// The rows of a table, as `ballast data describe` looks at them: what each column holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/data/describe.h"
#include "cli/data/described_columns.h"
#include "cli/data/section_text.h"
#include "common/job/spec.h"

namespace ballast {

// Not thread-safe. Memory: that of its columns' facts.
class DescribedTable {
 public:
  struct Split {
    std::uint64_t rows = 0;  // that can be read
    CorruptList corrupt;
  };

  // `options` must live as long as the table. Throws std::runtime_error if the train split is not there.
  DescribedTable(const DescribeOptions& options, const DataSpec& spec);

  // The train split first: its first row says how many columns there are, and their names. The test split may have them
  // in another order, and others beside them, as workers look for columns by their names. Throws std::runtime_error,
  // naming file and line: names that no job can have or that an option lacks, columns that the test split lacks, no
  // row.
  Split read(const std::filesystem::path& path, bool of_train);

  [[nodiscard]] std::size_t columns() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t index) const { return names_[index]; }
  [[nodiscard]] const ColumnFacts& facts(std::size_t index) const { return facts_[index]; }
  // What an option says that the column is; nothing: its values tell.
  [[nodiscard]] std::optional<CsvColumn::Kind> chosen(std::size_t index) const { return chosen_[index]; }
  // "PATH, line 3, column 2: age: 'x'": the column's first value that is no number, and the value itself.
  [[nodiscard]] const std::string& where_no_number(std::size_t index) const { return no_number_[index].where; }
  [[nodiscard]] const std::string& first_no_number(std::size_t index) const { return no_number_[index].field; }
  [[nodiscard]] std::string separator() const;

 private:
  struct NoNumber {
    std::string where;
    std::string field;
  };

  void begin(const std::string& where, const std::vector<std::string>& fields);
  void check_names(const std::string& where) const;
  void take_options(const std::string& where);
  void find_places(const std::string& where, const std::vector<std::string>& names);
  void add(const std::string& where, const std::vector<std::string>& fields, bool of_train);
  void check_field(std::size_t index, const std::string& field) const;

  const DescribeOptions& options_;
  char separator_;
  std::vector<std::string> names_;
  // By column:
  std::vector<ColumnFacts> facts_;
  std::vector<std::optional<CsvColumn::Kind>> chosen_;
  std::vector<NoNumber> no_number_;
  // Of the split that is read:
  std::vector<std::optional<std::size_t>> places_;  // by column: its field; none of a column without a name
  std::size_t fields_ = 0;                          // of a row
};

}  // namespace ballast
