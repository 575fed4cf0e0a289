// Walks over the whole numbers of a message, wherever they stand in it, by the table of its fields.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/wire/messages_table.h"
#include "protocol/messages.h"

namespace ballast::wire {

template <IsDescribed T, typename Visit>
void each_number_of(T& value, const std::string& path, const Visit& visit);

template <typename T, typename Rule, typename Visit>
void each_number_in(T& member, const std::string& path, const Rule& rule, const Visit& visit) {
  if constexpr (is_whole_number<T>) {
    visit(path, member, rule);
  } else if constexpr (is_optional<T>) {
    if (member) {
      each_number_in(*member, path, rule, visit);
    }
  } else if constexpr (is_list<T>) {
    for (std::size_t i = 0; i < member.size(); ++i) {
      const auto at = path + "[" + std::to_string(i) + "]";
      if constexpr (is_whole_number<typename T::value_type>) {
        visit(at, member[i], rule.rule);
      } else if constexpr (IsDescribed<typename T::value_type>) {
        each_number_of(member[i], at, visit);
      }
    }
  } else if constexpr (IsDescribed<T>) {
    each_number_of(member, path, visit);
  }
}

template <IsDescribed T, typename Visit>
void each_number_of(T& value, const std::string& path, const Visit& visit) {
  for_each_field<T>([&]<std::size_t I>(const auto& field) {
    using Kind = std::remove_cvref_t<decltype(field)>;
    if constexpr (!is_count<Kind> && !is_numbers_of<Kind> && !is_former<Kind>) {
      each_number_in(value.*field.member, path + "." + field.name, field.rule, visit);
    }
  });
}

// Calls `visit(path, number, rule)`, where `number` may be changed.
template <typename Visit>
void each_number(Message& message, const Visit& visit) {
  std::visit([&](auto& body) { each_number_of(body, Described<std::remove_cvref_t<decltype(body)>>::name, visit); },
             message);
}

}  // namespace ballast::wire
