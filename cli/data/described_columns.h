// What the fields of a table's column hold, and what may become of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace ballast {

inline constexpr std::size_t kMostValues = 100;     // of a column that becomes a category
inline constexpr std::size_t kMostClasses = 10000;  // of the label

// Whether a field holds one of the words that usually say that a value is missing: nothing, NA, NaN, null, ?, ...
bool says_missing(const std::string& field);

// Whether a job file may hold the text.
bool is_printable_text(const std::string& text);

// A finite number that is the whole field; nothing otherwise.
std::optional<double> number_in(const std::string& field);

// Mean and deviation of numbers in their order (B. P. Welford, "Note on a Method for Calculating Corrected Sums of
// Squares and Products", 1962), in double.
class Moments {
 public:
  void add(double value);
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double deviation() const;  // 1 of what is the same everywhere

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Memory: the column's different values, up to kMostClasses + 1.
class ColumnFacts {
 public:
  // Values of all splits count; mean and deviation are the train split's.
  void add(const std::string& field, bool of_train);

  [[nodiscard]] bool is_number() const { return all_numbers_ && !values_.empty(); }
  [[nodiscard]] bool is_category() const { return !all_numbers_ && printable_ && values_.size() <= kMostValues; }
  // Whether all values may stand in a job file: no control characters, no long texts.
  [[nodiscard]] bool is_printable() const { return printable_; }
  [[nodiscard]] const std::set<std::string>& values() const { return values_; }
  [[nodiscard]] const std::set<std::string>& missing() const { return missing_; }
  [[nodiscard]] const Moments& moments() const { return moments_; }

 private:
  bool all_numbers_ = true;
  bool printable_ = true;
  std::set<std::string> values_;
  std::set<std::string> missing_;
  Moments moments_;
};

}  // namespace ballast
