#include "worker/data/tables/csv_rows.h"

#include <algorithm>
#include <array>
#include <span>

namespace ballast {
namespace {

constexpr std::size_t kRowWindow = std::size_t{1} << 16U;
constexpr int kEnd = -1;
constexpr std::array<std::uint8_t, 3> kByteOrderMark = {0xEF, 0xBB, 0xBF};  // U+FEFF in UTF-8

}  // namespace

CsvRows::CsvRows(const std::filesystem::path& path, char separator)
    : source_(path), path_(path), separator_(separator), window_(kRowWindow) {
  end_ = source_.read(window_);
  if (std::ranges::equal(std::span(window_).first(std::min(end_, kByteOrderMark.size())), kByteOrderMark)) {
    at_ = kByteOrderMark.size();
  }
}

std::string CsvRows::where() const { return path_.string() + ", line " + std::to_string(row_line_); }

int CsvRows::peek() {
  if (at_ == end_) {
    at_ = 0;
    end_ = source_.read(window_);
  }
  return at_ == end_ ? kEnd : window_[at_];
}

int CsvRows::get() {
  const int byte = peek();
  if (byte == kEnd) {
    return kEnd;
  }
  ++at_;
  line_ += byte == '\n' ? 1 : 0;
  if (++row_bytes_ > kMaxRow) {
    throw std::runtime_error(where() + ": a row is longer than " + std::to_string(kMaxRow) +
                             " bytes; is a quote not closed?");
  }
  return byte;
}

bool CsvRows::skip_empty_lines() {
  while (peek() == '\n' || peek() == '\r') {
    get();
    row_bytes_ = 0;
  }
  return peek() != kEnd;
}

std::optional<std::vector<std::string>> CsvRows::next() {
  row_bytes_ = 0;
  if (!skip_empty_lines()) {
    return std::nullopt;
  }
  row_line_ = line_;
  std::vector<std::string> fields;
  auto ended = Ended::field;
  while (ended == Ended::field) {
    fields.emplace_back();
    ended = read_field(fields.back(), fields.size());
  }
  return fields;
}

// Whether `byte`, which was got, ends a field.
CsvRows::Ended CsvRows::end_of_row(int byte) {
  if (byte == '\r' && peek() == '\n') {
    get();
  }
  return byte == kEnd ? Ended::file : Ended::row;
}

CsvRows::Ended CsvRows::read_field(std::string& field, std::size_t column) {
  if (peek() == '"') {
    get();
    return read_quoted(field, column);
  }
  while (true) {
    const int byte = get();
    if (byte == static_cast<std::uint8_t>(separator_)) {
      return Ended::field;
    }
    if (byte == kEnd || byte == '\n' || (byte == '\r' && (peek() == '\n' || peek() == kEnd))) {
      return end_of_row(byte);
    }
    if (byte == '"') {
      refuse(column,
             "a quote stands within a field that does not begin with one; put the field in quotes, and double "
             "those within");
    }
    field.push_back(static_cast<char>(byte));
  }
}

CsvRows::Ended CsvRows::read_quoted(std::string& field, std::size_t column) {
  while (true) {
    int byte = get();
    if (byte == kEnd) {
      throw std::runtime_error(where() + ", column " + std::to_string(column) +
                               ": a quote is not closed before the file ends; close it, or double it within a field");
    }
    if (byte != '"') {
      field.push_back(static_cast<char>(byte));
      continue;
    }
    if (peek() == '"') {
      field.push_back(static_cast<char>(get()));
      continue;
    }
    byte = get();
    if (byte == static_cast<std::uint8_t>(separator_)) {
      return Ended::field;
    }
    if (byte == kEnd || byte == '\n' || (byte == '\r' && (peek() == '\n' || peek() == kEnd))) {
      return end_of_row(byte);
    }
    refuse(column, "text follows a closing quote; double the quotes within a field");
  }
}

void CsvRows::refuse(std::size_t column, const std::string& what) {
  while (peek() != kEnd && get() != '\n') {
  }
  throw BadRow(column, what);
}

}  // namespace ballast
