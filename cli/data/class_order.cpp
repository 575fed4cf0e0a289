#include "cli/data/class_order.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace ballast {

std::optional<double> number_in(const std::string& field) {
  constexpr double kLargest = 1e30;
  double value = 0;
  const auto* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  const bool good =
      !field.empty() && error == std::errc() && stop == end && std::isfinite(value) && std::abs(value) <= kLargest;
  return good ? std::optional(value) : std::nullopt;
}

std::vector<std::string> in_class_order(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<std::pair<double, std::string>> numbers;
  for (const auto& name : names) {
    const auto number = number_in(name);
    if (!number) {
      return names;
    }
    numbers.emplace_back(*number, name);
  }
  std::ranges::stable_sort(numbers, {}, &std::pair<double, std::string>::first);
  std::ranges::transform(numbers, names.begin(), &std::pair<double, std::string>::second);
  return names;
}

}  // namespace ballast
