// Whether a value and its parts keep their rules.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/fields.h"

namespace ballast::wire {

template <IsDescribed T>
Fault fault_of(const T& value);

// Whether there is anything to check in a value of the type.
template <typename T>
constexpr bool has_rules() {
  if constexpr (is_list<T> || is_optional<T>) {
    return has_rules<typename T::value_type>();
  } else if constexpr (!IsDescribed<T>) {
    return false;
  } else {
    bool has = !Described<T>::allowed.empty();
    for_each_field<T>([&]<std::size_t I>(const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (!is_count<Field> && !is_numbers_of<Field> && !is_former<Field>) {
        has = has || !std::is_same_v<decltype(field.rule), Any> ||
              has_rules<std::remove_cvref_t<decltype(std::declval<T>().*field.member)>>();
      }
    });
    return has;
  }
}

template <typename T>
Fault fault_of(const std::vector<T>& values) {
  if constexpr (has_rules<T>()) {
    return each("", values, [](const T& value) { return fault_of(value); });
  } else {
    return {};
  }
}

template <typename T>
Fault fault_of(const std::optional<T>& value) {
  return value ? fault_of(*value) : Fault{};
}

// Any number and any text is a good one without a rule.
template <typename T>
requires(!IsDescribed<T>) Fault fault_of(const T& /*value*/) { return {}; }

template <typename Field, typename T>
Fault fault_of_field(const Field& field, const T& value) {
  if constexpr (is_count<Field> || is_numbers_of<Field> || is_former<Field>) {
    return {};
  } else {
    const auto& member = value.*field.member;
    if constexpr (requires { field.rule.holds(member); }) {
      if (!field.rule.holds(member)) {
        return field.rule.why(member);
      }
    }
    if constexpr (requires { field.rule.rule.holds(member.front()); }) {
      if (auto fault = each("", member, [&](const auto& entry) { return fault_by(field.rule.rule, entry); })) {
        return fault;
      }
    }
    return fault_of(member);
  }
}

// Of the first field that breaks its rule, then of the whole.
template <IsDescribed T>
Fault fault_of(const T& value) {
  Fault found;
  for_each_field<T>([&]<std::size_t I>(const auto& field) {
    if (found) {
      return;
    }
    if (auto fault = fault_of_field(field, value)) {
      found = inside(std::string(".") + field.name, std::move(fault));
    }
  });
  return found ? found : Described<T>::fault(value);
}

}  // namespace ballast::wire
