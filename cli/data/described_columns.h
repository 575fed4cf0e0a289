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

// Why a job file cannot hold the text as a name or a value; nothing if it can.
std::optional<std::string> unfit_text(const std::string& text);

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

// Memory: the column's different values, up to one more than hold() says, of at most 256 bytes each.
class ColumnFacts {
 public:
  // How many different values are told apart; kMostValues unless another number is said before the first add().
  void hold(std::size_t most) { most_ = most; }
  // Values of all splits count; mean and deviation are the train split's. Returns whether this is the column's first
  // value that is no number.
  bool add(const std::string& field, bool of_train);

  [[nodiscard]] bool is_empty() const { return given_ == 0; }
  [[nodiscard]] bool is_number() const { return given_ > 0 && numbers_ == given_; }
  // Whether some values are no numbers, but nearly all are meant to be: at least 9 in 10 are numbers, or would be if
  // they were written otherwise (number_fault).
  [[nodiscard]] bool is_nearly_number() const;
  [[nodiscard]] bool is_category() const { return !is_number() && !is_crowded() && unfit_.empty(); }
  // Whether there are more different values than are held.
  [[nodiscard]] bool is_crowded() const { return values_.size() > most_; }
  // Fields that say no missing value, and how many of them are numbers.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  [[nodiscard]] std::uint64_t numbers() const { return numbers_; }
  // The first value that no job file can hold, and why; empty if there is none. Then values() are not all.
  [[nodiscard]] const std::string& unfit() const { return unfit_; }
  [[nodiscard]] const std::set<std::string>& values() const { return values_; }
  [[nodiscard]] const std::set<std::string>& missing() const { return missing_; }
  [[nodiscard]] const Moments& moments() const { return moments_; }

 private:
  std::size_t most_ = kMostValues;
  std::uint64_t given_ = 0;
  std::uint64_t numbers_ = 0;
  std::uint64_t foreign_ = 0;  // numbers, but for how they are written
  std::string unfit_;
  std::set<std::string> values_;
  std::set<std::string> missing_;
  Moments moments_;
};

}  // namespace ballast
