// The rows of a table as a job's columns read them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/job/spec.h"
#include "worker/data/tables/csv_rows.h"

namespace ballast {

// The values of a row; what a job has no column for, or what was not asked for, is empty.
struct TableRow {
  std::vector<float> features;
  std::optional<std::int32_t> label;
  std::vector<float> targets;
};

// Front to back. Not thread-safe. Memory: the longest row.
class TableRows {
 public:
  enum class Columns : std::uint8_t {
    all,       // of data.columns; each must be there
    features,  // numbers and categories: a file may lack all other columns, and what they hold is not read
  };

  // `spec` must outlive it. Throws std::runtime_error naming the file for a column that its first line does not name,
  // and what CsvRows throws.
  TableRows(const DataSpec& spec, const std::filesystem::path& path, Columns columns);

  // The next row, until the next call; null at the end. Throws BadRow for a row that cannot be read: the next call goes
  // on behind it. Throws what CsvRows throws.
  const TableRow* next();
  // Of the row that next() gave, or refused.
  [[nodiscard]] std::string where() const { return rows_.where(); }
  [[nodiscard]] std::uint64_t line() const { return rows_.line(); }

 private:
  // The place of each of some texts in their list.
  class ValuePlaces {
   public:
    explicit ValuePlaces(const std::vector<std::string>& values);
    [[nodiscard]] std::optional<std::size_t> of(const std::string& value) const;

   private:
    std::map<std::string, std::size_t> places_;
  };

  [[nodiscard]] bool is_read(const CsvColumn& column) const;
  std::optional<std::vector<std::string>> names_line();
  void place_by_names();
  void place_by_number(std::size_t fields);
  void read_row(const std::vector<std::string>& fields);
  void add_field(std::size_t index, const std::string& field);
  void add_category(std::size_t index, const std::string& field, bool missing);
  [[nodiscard]] float number_of(std::size_t index, const std::string& field) const;
  [[nodiscard]] std::int32_t class_of(std::size_t index, const std::string& field) const;
  [[nodiscard]] float flag_of(std::size_t index, const std::string& field) const;
  [[noreturn]] void refuse(std::size_t index, const std::string& what) const;

  const DataSpec& spec_;
  Columns columns_;
  CsvRows rows_;
  ValuePlaces classes_;
  ValuePlaces missing_;
  std::vector<ValuePlaces> values_;                 // by column
  std::vector<std::optional<std::size_t>> places_;  // by column: its field in a row; none: it is not read
  std::optional<std::size_t> fields_;               // of a row; none: the first one says
  TableRow row_;
};

}  // namespace ballast
