// How the fields of messages and of their parts are described: once, for encoding, reading, checking and
// docs/messages.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/rules.h"

namespace ballast::wire {

// ---- kinds of fields

template <typename Struct, typename Value, typename Rule = Any>
struct Field {
  const char* name;  // of the member, and in schemas/wire.fbs
  Value Struct::*member;
  Rule rule = {};
  std::uint32_t since = 0;  // the first version of the protocol that has it
};
template <typename Struct, typename Value>
Field(const char*, Value Struct::*) -> Field<Struct, Value, Any>;
template <typename Struct, typename Value, typename Rule>
Field(const char*, Value Struct::*, Rule) -> Field<Struct, Value, Rule>;

// Of a FlatBuffers struct, which holds no list: how many numbers of the list beside it are its own.
template <typename Struct, typename Numbers>
struct Count {
  const char* name;
  Numbers Struct::*member;
};
template <typename Struct, typename Numbers>
Count(const char*, Numbers Struct::*) -> Count<Struct, Numbers>;

// Of a table, right after a list of such structs: the numbers of all of them, one struct's after the other's.
template <typename Struct, typename Values>
struct NumbersOf {
  const char* name;
  Values Struct::*member;  // the list of structs
  std::size_t limit;       // of all numbers
  std::uint32_t since = 0;
};
template <typename Struct, typename Values>
NumbersOf(const char*, Values Struct::*, std::size_t) -> NumbersOf<Struct, Values>;

// A field, or the numbers beside it, that versions before `version` do not have: what is sent to a peer of such a
// version leaves it out, and what comes from one leaves it at its default.
template <typename Of>
constexpr Of since(std::uint32_t version, Of field) {
  field.since = version;
  return field;
}

// A field that only peers of old versions know. It has no member: what such a peer is told in it follows from the
// others, and so does what its word means here.
template <typename Struct, typename Content>
struct Former {
  using Value = Content;  // a number, a text, a part or table (optional if it may be absent)
  const char* name;
  std::uint32_t last;  // the newest version that has it
  Value (*told)(const Struct&);
  void (*taken)(Struct&, const Value&);  // after the fields before it have been read
};
template <typename Struct, typename Value>
Former(const char*, std::uint32_t, Value (*)(const Struct&), void (*)(Struct&, const Value&)) -> Former<Struct, Value>;

template <typename T>
inline constexpr bool is_former = false;
template <typename Struct, typename Value>
inline constexpr bool is_former<Former<Struct, Value>> = true;

template <typename T>
inline constexpr bool is_count = false;
template <typename Struct, typename Numbers>
inline constexpr bool is_count<Count<Struct, Numbers>> = true;

template <typename T>
inline constexpr bool is_numbers_of = false;
template <typename Struct, typename Values>
inline constexpr bool is_numbers_of<NumbersOf<Struct, Values>> = true;

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

// What an optional value is one of; of any other, the type itself.
template <typename T>
struct ValueOrOf {
  using Type = T;
};
template <typename T>
struct ValueOrOf<std::optional<T>> {
  using Type = T;
};
template <typename T>
using ValueOr = typename ValueOrOf<T>::Type;

template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;

// ---- descriptions: common/wire/messages_table.h has one for each message and part

// `Schema`: the generated class; `fields`: a tuple of the kinds above in the schema's order; `fault(value)`: what is
// wrong though each field is allowed; `allowed`: that rule in words, or empty.
template <typename T>
struct Described;

template <typename T>
using SchemaOf = typename Described<T>::Schema;

template <typename T>
concept IsDescribed = requires {
  typename Described<T>::Schema;
};

// A description without a rule for the whole.
template <typename T, typename Generated>
struct Plain {
  using Struct = T;
  using Schema = Generated;
  static constexpr const char* name = Generated::Traits::name;
  static constexpr std::uint32_t known_since = 0;  // the first version that has messages of this kind
  static constexpr std::string_view allowed{};
  static Fault fault(const T& /*value*/) { return {}; }
};

// A field by its member, whose name is also that of the schema.
#define BALLAST_FIELD(member, ...) \
  Field { #member, &Struct::member __VA_OPT__(, ) __VA_ARGS__ }

// Tables may leave fields out and hold texts and lists; structs are written in place.
template <typename T>
concept IsTable = IsDescribed<T> && requires {
  Described<T>::Schema::Traits::Create;
};
template <typename T>
concept IsPart = IsDescribed<T> && !IsTable<T>;

template <typename... T>
struct Types {};

// ---- walking

// Calls `visit.operator()<I>(field)` for each field, in order.
template <typename T, typename Visit>
constexpr void for_each_field(Visit&& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit.template operator()<I>(std::get<I>(Described<T>::fields)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cv_t<decltype(Described<T>::fields)>>>{});
}

// Whether the description names the schema's fields, all of them and in order.
template <typename T>
constexpr bool matches_schema() {
  using Traits = typename Described<T>::Schema::Traits;
  if (Traits::fields_number != std::tuple_size_v<std::remove_cv_t<decltype(Described<T>::fields)>>) {
    return false;
  }
  bool same = true;
  for_each_field<T>([&]<std::size_t I>(const auto& field) {
    same = same && std::string_view(field.name) == std::string_view(Traits::field_names[I]);
  });
  return same;
}

template <typename T>
inline constexpr bool is_whole_number = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename Struct, typename Value, typename Rule>
constexpr bool is_ranged(const Field<Struct, Value, Rule>& /*field*/) {
  return !is_whole_number<Value> || !std::is_same_v<Rule, Any>;
}
template <typename Struct, typename Entry, typename Rule>
constexpr bool is_ranged(const Field<Struct, std::vector<Entry>, List<Rule>>& /*field*/) {
  return !is_whole_number<Entry> || !std::is_same_v<Rule, Any>;
}
template <typename Kind>
constexpr bool is_ranged(const Kind& /*field*/) {
  return true;
}

// Whether every whole number has a range.
template <typename T>
constexpr bool has_ranges() {
  bool all = true;
  for_each_field<T>([&]<std::size_t I>(const auto& field) { all = all && is_ranged(field); });
  return all;
}

// Whether all fields have been there in every version that is spoken. A struct lies in its table byte by byte: it can
// gain nothing.
template <typename T>
constexpr bool is_unchanged() {
  bool unchanged = true;
  for_each_field<T>([&]<std::size_t I>(const auto& field) {
    using Kind = std::remove_cvref_t<decltype(field)>;
    if constexpr (is_former<Kind>) {
      unchanged = false;
    } else if constexpr (!is_count<Kind>) {
      unchanged = unchanged && field.since == 0;
    }
  });
  return unchanged;
}

// Where a value stands in a message, as refusals name it.
struct Path {
  const Path* parent = nullptr;
  std::string_view name;
  [[nodiscard]] std::string text() const {
    return parent == nullptr ? std::string(name) : parent->text() + "." + std::string(name);
  }
};

}  // namespace ballast::wire
