#include "cli/data/portable_yaml.h"

#include <algorithm>
#include <array>

#include "common/job/yaml_tree.h"

namespace ballast {
namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return small;
}

// Readers that know these take them in small letters, in capitals and with one capital.
bool is_yaml_word(const std::string& small) {
  constexpr std::array kWords = {"y", "n", "yes", "no", "true", "false", "on", "off", "null"};
  return std::ranges::find(kWords, small) != kWords.end();
}

// Of a text that yaml_quoted leaves plain, so without signs, colons and a point in front: whether it begins as a number
// does (in decimal, 0x10, 0o7, 0b1, 1_000, 1.5e3) or a date, and has nothing that none of them has.
bool may_be_number(const std::string& small) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kParts = "0123456789abcdefxo_.-";
  return kDigits.find(small.front()) != std::string_view::npos && small.find_first_not_of(kParts) == std::string::npos;
}

}  // namespace

std::string portable_text(std::string_view text) {
  auto written = yaml_quoted(text);
  if (written.starts_with('"')) {
    return written;
  }
  const auto small = in_small_letters(written);
  return is_yaml_word(small) || may_be_number(small) ? '"' + written + '"' : written;
}

std::string portable_list(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) {
    all += (all.empty() ? "" : ", ") + portable_text(text);
  }
  return all;
}

std::string portable_number(const std::string& digits) {
  const auto exponent = digits.find('e');
  if (exponent == std::string::npos || digits.find('.') < exponent) {
    return digits;
  }
  return digits.substr(0, exponent) + ".0" + digits.substr(exponent);
}

}  // namespace ballast
