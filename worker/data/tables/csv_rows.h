// The rows of a table in text: RFC 4180, with any separator.
//
// Fields in double quotes may hold separators, line breaks and, doubled, quotes. A row ends with \n or \r\n, the last
// one perhaps with neither. Empty lines are passed over, as is a byte-order mark in UTF-8 at the file's beginning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/data/byte_source.h"

namespace ballast {

// A longer row ends the reading. 16 MiB.
inline constexpr std::size_t kMaxRow = std::size_t{1} << 24U;

// What is wrong within a row, and its field, from 1 on.
struct BadRow : std::runtime_error {
  BadRow(std::size_t at, const std::string& what) : std::runtime_error(what), column(at) {}
  std::size_t column;
};

// Not thread-safe. Plain or gzip-compressed. Memory: the longest row. Throws what ByteSource throws.
class CsvRows {
 public:
  CsvRows(const std::filesystem::path& path, char separator);

  // The next row's fields; nothing at the end. Throws BadRow for text behind a closing quote, and for a quote within a
  // field that does not begin with one: the next call goes on behind the line's end. A quote that is never closed and a
  // row that is too long are std::runtime_errors: what follows cannot be told apart.
  std::optional<std::vector<std::string>> next();
  // "PATH, line 3": where the row that next() gave, or refused, begins.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::uint64_t line() const { return row_line_; }

 private:
  enum class Ended { field, row, file };

  int get();
  [[nodiscard]] int peek();
  bool skip_empty_lines();
  Ended read_field(std::string& field, std::size_t column);
  Ended read_quoted(std::string& field, std::size_t column);
  Ended end_of_row(int byte);
  [[noreturn]] void refuse(std::size_t column, const std::string& what);

  ByteSource source_;
  std::filesystem::path path_;
  char separator_;
  std::vector<std::uint8_t> window_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t line_ = 1;  // of the next byte
  std::uint64_t row_line_ = 1;
  std::size_t row_bytes_ = 0;
};

}  // namespace ballast
