#include "worker/data/tables/written_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace ballast {
namespace {

constexpr std::size_t kLongestNumber = 64;

bool reads_as_number(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && stop == text.data() + text.size() && std::isfinite(value);
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// With plain blanks for those that do not break a line (U+00A0, U+202F), which spreadsheets put between thousands.
std::string with_plain_blanks(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const std::size_t bytes = rest.starts_with("\xC2\xA0") ? 2 : rest.starts_with("\xE2\x80\xAF") ? 3 : 0;
    plain += bytes > 0 ? ' ' : rest.front();
    at += std::max<std::size_t>(bytes, 1);
  }
  return plain;
}

// 1 to 3 digits, and then `separator` and 3 digits at least `least` times.
bool has_thousands(std::string_view text, char separator, std::size_t least) {
  constexpr std::size_t kGroup = 3;
  const auto first = text.substr(0, text.find(separator));
  if (!are_digits(first) || first.size() > kGroup) {
    return false;
  }
  std::size_t groups = 0;
  for (text.remove_prefix(first.size()); !text.empty(); text.remove_prefix(kGroup + 1)) {
    if (text.front() != separator || text.size() <= kGroup || !are_digits(text.substr(1, kGroup))) {
      return false;
    }
    ++groups;
  }
  return groups >= least;
}

bool is_whole_number(std::string_view text) {
  return are_digits(text) || has_thousands(text, '.', 1) || has_thousands(text, ' ', 1) || has_thousands(text, '\'', 1);
}

// Digits behind a decimal comma, perhaps with an exponent.
bool are_decimals(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' && text.find('.') == std::string_view::npos &&
         reads_as_number(text);
}

bool has_decimal_comma(std::string_view text) {
  const auto comma = text.find(',');
  return comma != std::string_view::npos && is_whole_number(text.substr(0, comma)) &&
         are_decimals(text.substr(comma + 1));
}

bool has_thousands_separators(std::string_view text) {
  const auto point = text.rfind('.');
  const auto whole = text.substr(0, point);
  if (has_thousands(text, '.', 2)) {
    return true;
  }
  return (point == std::string_view::npos || are_decimals(text.substr(point + 1))) &&
         std::ranges::any_of(std::string_view(", '_"),
                             [&](char separator) { return has_thousands(whole, separator, 1); });
}

}  // namespace

std::string number_fault(std::string_view field) {
  if (field.size() > kLongestNumber || reads_as_number(field)) {
    return {};
  }
  const auto plain = with_plain_blanks(field);
  const auto inner = without_blanks(plain);
  if (reads_as_number(inner)) {
    return "has blanks around it; take them off";
  }
  const bool has_sign = inner.starts_with('+') || inner.starts_with('-');
  const auto unsigned_part = inner.substr(has_sign ? 1 : 0);
  if (inner.starts_with('+') && reads_as_number(unsigned_part) && !unsigned_part.starts_with('-')) {
    return "begins with a plus sign; take it off";
  }
  const bool comma = has_decimal_comma(unsigned_part);
  const bool thousands = has_thousands_separators(unsigned_part);
  if (comma && thousands) {
    return "has a comma, for decimals or between thousands; write it with a decimal point, or without the comma";
  }
  if (comma) {
    return "has a decimal comma; write it with a decimal point";
  }
  if (thousands) {
    return "has separators between thousands; write it without them";
  }
  if (inner.ends_with('%') && reads_as_number(without_blanks(inner.substr(0, inner.size() - 1)))) {
    return "ends in a percent sign; take it off";
  }
  return {};
}

}  // namespace ballast
