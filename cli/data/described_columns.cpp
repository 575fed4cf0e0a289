#include "cli/data/described_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace ballast {

bool says_missing(const std::string& field) {
  constexpr std::array kWords = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"};
  return std::ranges::any_of(kWords, [&](const char* word) { return field == word; });
}

bool is_printable_text(const std::string& text) {
  constexpr std::size_t kLongest = 256;
  return text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte >= 0x20U && byte != 0x7FU;
         });
}

std::optional<double> number_in(const std::string& field) {
  double value = 0;
  const auto* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  const bool good = !field.empty() && error == std::errc() && stop == end && std::isfinite(value);
  return good ? std::optional(value) : std::nullopt;
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

void ColumnFacts::add(const std::string& field, bool of_train) {
  if (says_missing(field)) {
    missing_.insert(field);
    return;
  }
  const auto value = number_in(field);
  all_numbers_ = all_numbers_ && value.has_value();
  if (value && of_train) {
    moments_.add(*value);
  }
  printable_ = printable_ && is_printable_text(field);
  if (values_.size() <= kMostClasses) {
    values_.insert(field);
  }
}

}  // namespace ballast
