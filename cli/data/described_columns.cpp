#include "cli/data/described_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/data/class_order.h"
#include "common/job/words.h"
#include "common/text/text.h"
#include "worker/data/tables/written_numbers.h"

namespace ballast {

bool says_missing(const std::string& field) {
  constexpr std::array kWords = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"};
  return std::ranges::any_of(kWords, [&](const char* word) { return field == word; });
}

std::optional<std::string> unfit_text(const std::string& text) {
  constexpr std::size_t kLongest = 256;
  if (const auto fault = text_fault(text, TextKind::line)) {
    return shown(text) + " has " + *fault;
  }
  if (text.size() > kLongest) {
    return shown(text) + " is longer than " + std::to_string(kLongest) + " bytes";
  }
  return std::nullopt;
}

void Moments::add(double value) {
  ++count_;
  const double from_old = value - mean_;
  mean_ += from_old / static_cast<double>(count_);
  squares_ += from_old * (value - mean_);
}

double Moments::deviation() const {
  constexpr double kLeast = 1e-30;  // that a job may say
  const double deviation = count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
  return deviation > kLeast && std::isfinite(deviation) ? deviation : 1;
}

bool ColumnFacts::is_nearly_number() const {
  constexpr std::uint64_t kOfTen = 9;
  return numbers_ < given_ && 10 * (numbers_ + foreign_) >= kOfTen * given_;
}

bool ColumnFacts::add(const std::string& field, bool of_train) {
  if (says_missing(field)) {
    missing_.insert(field);
    return false;
  }
  const auto value = number_in(field);
  const bool is_first = !value && numbers_ == given_;
  ++given_;
  numbers_ += value ? 1 : 0;
  foreign_ += !value && !number_fault(field).empty() ? 1 : 0;
  if (value && of_train) {
    moments_.add(*value);
  }
  if (!unfit_.empty()) {
    return is_first;
  }
  unfit_ = unfit_text(field).value_or("");
  if (unfit_.empty() && !is_crowded()) {
    values_.insert(field);
  }
  return is_first;
}

}  // namespace ballast
