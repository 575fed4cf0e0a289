// What an object's state is: each class that is part of a core lists it once, in a member
//
//   [[nodiscard]] auto state() const { return std::tie(first_, second_); }
//
// with all members in their order, and says beside the class
//
//   static_assert(lists_all_members<Class>());
//
// so that whoever adds a member and forgets it in the list is told by the compiler.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ballast {

namespace state_list {

template <typename... Members>
constexpr std::size_t size_of(std::tuple<const Members&...>* /*list*/) {
  std::size_t end = 0;
  std::size_t alignment = 1;
  const auto up = [](std::size_t value, std::size_t to) { return (value + to - 1) / to * to; };
  ((end = up(end, alignof(Members)) + sizeof(Members),
    alignment = alignof(Members) > alignment ? alignof(Members) : alignment),
   ...);
  return up(end, alignment);
}

}  // namespace state_list

// Whether an object with these members, in this order, is as large as the class. A forgotten one shows unless it lies
// in padding; members that are small therefore stand together.
template <typename Object>
constexpr bool lists_all_members() {
  using List = decltype(std::declval<const Object&>().state());
  return state_list::size_of(static_cast<List*>(nullptr)) == sizeof(Object);
}

}  // namespace ballast
