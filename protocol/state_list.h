// What an object's state is. Each class that is part of a core lists it once, in a member
//
//   template <typename = void>
//   [[nodiscard]] auto state() const {
//     return listed::all(listed::plain(step_, missing_), listed::ages(since_), listed::parts(round_));
//   }
//
// with all members in their order, each under its kind; a template, for its type takes long to compile, and most who
// use the class never ask. tests/unit/protocol/all_state_lists.cpp says for each
//
//   static_assert(lists_all_members<Class>());
//
// so that whoever adds a member and forgets it in the list is told by the compiler. The kinds are what a search over
// states needs to know in order to find two of them equal. What it must heed besides: names also stand in plain
// members, in messages above all, and some are compared by order, so a renaming goes through those as well and keeps
// the order; a name or a moment of 0 is none; accounts travel in messages; a plain pointer is compared by what it
// points to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace ballast {

namespace listed {

enum class Kind : std::uint8_t {
  plain,     // two states differ if it differs
  names,     // identifiers: it matters only which of them are the same
  ages,      // moments: only how long ago they are
  payloads,  // PayloadIds: names, too; their bytes lie in the shell
  accounts,  // counted for people; nobody acts on them
  fixed,     // not compared: given at the start and never changed, empty between two events, or following from the rest
  parts,     // objects with lists of their own; also optionals, variants and containers of them
};

template <Kind kKind, typename... Members>
struct Listed {
  static constexpr Kind kind = kKind;
  std::tuple<const Members&...> members;
};

template <typename... Members>
constexpr Listed<Kind::plain, Members...> plain(const Members&... members) {
  return {{members...}};
}
template <typename... Members>
constexpr Listed<Kind::names, Members...> names(const Members&... members) {
  return {{members...}};
}
template <typename... Members>
constexpr Listed<Kind::ages, Members...> ages(const Members&... members) {
  return {{members...}};
}
template <typename... Members>
constexpr Listed<Kind::payloads, Members...> payloads(const Members&... members) {
  return {{members...}};
}
template <typename... Members>
constexpr Listed<Kind::accounts, Members...> accounts(const Members&... members) {
  return {{members...}};
}
template <typename... Members>
constexpr Listed<Kind::fixed, Members...> fixed(const Members&... members) {
  return {{members...}};
}
template <typename... Members>
constexpr Listed<Kind::parts, Members...> parts(const Members&... members) {
  return {{members...}};
}

template <typename... Lists>
constexpr std::tuple<Lists...> all(const Lists&... lists) {
  return {lists...};
}

// ---- the guard

struct Extent {
  std::size_t end = 0;
  std::size_t alignment = 1;

  static constexpr std::size_t up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }
  template <typename Member>
  constexpr void add() {
    end = up(end, alignof(Member)) + sizeof(Member);
    alignment = alignof(Member) > alignment ? alignof(Member) : alignment;
  }
  template <Kind kKind, typename... Members>
  constexpr void add_all(Listed<kKind, Members...>* /*list*/) {
    (add<Members>(), ...);
  }
};

template <typename... Lists>
constexpr std::size_t size_of(std::tuple<Lists...>* /*all*/) {
  Extent extent;
  (extent.add_all(static_cast<Lists*>(nullptr)), ...);
  return Extent::up(extent.end, extent.alignment);
}

// ---- walking

template <typename T>
concept HasState = requires(const T& object) {
  object.state();
};
template <typename T>
concept IsRange = requires(const T& values) {
  values.begin();
  values.end();
};
template <typename T>
concept IsMap = IsRange<T> && requires {
  typename T::mapped_type;
};

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_variant = false;
template <typename... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
template <typename T>
inline constexpr bool is_pair = false;
template <typename A, typename B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <typename Object, typename Visit>
void walk(const Object& object, Visit&& visit);

// A part, or those in an optional, a variant or a container; a map's key is plain.
template <typename Part, typename Visit>
void walk_part(const Part& part, Visit& visit) {
  if constexpr (HasState<Part>) {
    walk(part, visit);
  } else if constexpr (is_optional<Part>) {
    visit(Kind::plain, part.has_value());
    if (part) {
      walk_part(*part, visit);
    }
  } else if constexpr (is_variant<Part>) {
    visit(Kind::plain, part.index());
    std::visit([&](const auto& own) { walk_part(own, visit); }, part);
  } else if constexpr (is_pair<Part>) {
    visit(Kind::plain, part.first);
    walk_part(part.second, visit);
  } else {
    static_assert(IsRange<Part>, "a part has a list of its own, or is an optional, a variant or a container of parts");
    visit(Kind::plain, part.size());
    for (const auto& one : part) {
      walk_part(one, visit);
    }
  }
}

// Names, ages or payloads in a map are visited one by one; its keys are plain.
template <Kind kKind, typename Member, typename Visit>
void walk_member(const Member& member, Visit& visit) {
  if constexpr (kKind == Kind::fixed) {
    // the same in all states that are compared
  } else if constexpr (kKind == Kind::parts) {
    walk_part(member, visit);
  } else if constexpr (IsMap<Member> && kKind != Kind::plain && kKind != Kind::accounts) {
    visit(Kind::plain, member.size());
    for (const auto& [key, value] : member) {
      visit(Kind::plain, key);
      visit(kKind, value);
    }
  } else {
    visit(kKind, member);
  }
}

// Calls visit(kind, value) for each member that is no part and not fixed, and for those of its parts, in order.
template <typename Object, typename Visit>
void walk(const Object& object, Visit&& visit) {
  const auto of_kind = [&](const auto& list) {
    constexpr auto kKind = std::remove_cvref_t<decltype(list)>::kind;
    std::apply([&](const auto&... members) { (walk_member<kKind>(members, visit), ...); }, list.members);
  };
  std::apply([&](const auto&... lists) { (of_kind(lists), ...); }, object.state());
}

}  // namespace listed

// Whether an object with these members, in this order, is as large as the class. A forgotten one shows unless it lies
// in padding; that one tests/source/state_test.py sees.
template <typename Object>
constexpr bool lists_all_members() {
  using All = decltype(std::declval<const Object&>().state());
  return listed::size_of(static_cast<All*>(nullptr)) == sizeof(Object);
}

}  // namespace ballast
