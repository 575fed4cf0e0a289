// Plain values to FlatBuffers tables, as a peer of a version of the protocol knows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/text/text.h"
#include "common/wire/fields.h"
#include "common/wire/wire_limits.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {

using Builder = flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

// The schema's type of a field.
template <typename T, std::size_t I>
using FieldType = std::remove_cvref_t<decltype(std::declval<const SchemaOf<T>&>().template get_field<I>())>;

template <typename T>
constexpr auto indices() {
  return std::make_index_sequence<SchemaOf<T>::Traits::fields_number>{};
}

// ---- structs

template <IsPart T>
SchemaOf<T> part(const T& value);

// A field as an argument of its struct's constructor.
template <typename Target, typename Field, typename T>
auto element(const Field& field, const T& value) {
  const auto& member = value.*field.member;
  if constexpr (is_count<Field>) {
    return static_cast<Target>(member.size());
  } else if constexpr (IsPart<std::remove_cvref_t<decltype(member)>>) {
    return part(member);
  } else {
    return static_cast<Target>(member);
  }
}

template <IsPart T>
SchemaOf<T> part(const T& value) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return SchemaOf<T>(element<FieldType<T, I>>(std::get<I>(Described<T>::fields), value)...);
  }
  (indices<T>());
}

// Appends the numbers that a struct counts, its parts' included.
template <IsPart T, typename Number>
void collect(const T& value, std::vector<Number>& numbers) {
  for_each_field<T>([&]<std::size_t I>(const auto& field) {
    const auto& member = value.*field.member;
    if constexpr (is_count<std::remove_cvref_t<decltype(field)>>) {
      numbers.insert(numbers.end(), member.begin(), member.end());
    } else if constexpr (IsPart<std::remove_cvref_t<decltype(member)>>) {
      collect(member, numbers);
    }
  });
}

// ---- what lies outside of a table: texts, lists, tables; absent if empty

template <IsTable T>
Offset<SchemaOf<T>> write(Builder& builder, const T& value, std::uint32_t version);

inline Offset<flatbuffers::String> write_text(Builder& builder, const std::string& text) {
  return text.empty() ? Offset<flatbuffers::String>{} : builder.CreateString(text);
}

inline Offset<flatbuffers::String> write_free_text(Builder& builder, const std::string& text) {
  const bool fits = text.size() <= kMaxTextBytes && !text_fault(text, TextKind::line);
  return write_text(builder, fits ? text : as_line(text, kMaxTextBytes));
}

template <typename Number>
Offset<Vector<Number>> write_list(Builder& builder, const std::vector<Number>& numbers, std::uint32_t /*version*/) {
  return numbers.empty() ? Offset<Vector<Number>>{} : builder.CreateVector(numbers);
}

template <IsPart T>
Offset<Vector<const SchemaOf<T>*>> write_list(Builder& builder, const std::vector<T>& values,
                                              std::uint32_t /*version*/) {
  using Part = SchemaOf<T>;
  if (values.empty()) {
    return {};
  }
  // Not CreateUninitializedVectorOfStructs: FlatBuffers 2 aligns that by the struct's size, e.g. to 20 bytes.
  return builder.CreateVectorOfStructs<Part>(values.size(),
                                             [&values](std::size_t i, Part* at) { *at = part(values[i]); });
}

template <IsTable T>
Offset<Vector<Offset<SchemaOf<T>>>> write_list(Builder& builder, const std::vector<T>& values, std::uint32_t version) {
  std::vector<Offset<SchemaOf<T>>> tables;
  tables.reserve(values.size());
  for (const auto& value : values) {
    tables.push_back(write(builder, value, version));
  }
  return values.empty() ? Offset<Vector<Offset<SchemaOf<T>>>>{} : builder.CreateVector(tables);
}

// ---- tables

// A value as the table holds it: a number, a struct (if it is there), or the place of what lies outside.
template <typename Target, typename Rule, typename Value>
auto stored_value(Builder& builder, const Value& value, std::uint32_t version) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return std::is_same_v<Rule, FreeText> ? write_free_text(builder, value) : write_text(builder, value);
  } else if constexpr (is_list<Value>) {
    return write_list(builder, value, version);
  } else if constexpr (is_optional<Value>) {
    using Content = typename Value::value_type;
    if constexpr (IsTable<Content>) {
      return value ? write(builder, *value, version) : Offset<SchemaOf<Content>>{};
    } else {
      return value ? std::optional(part(*value)) : std::nullopt;
    }
  } else if constexpr (IsTable<Value>) {
    return value == Value{} ? Offset<SchemaOf<Value>>{} : write(builder, value, version);
  } else if constexpr (IsPart<Value>) {
    return std::optional(part(value));
  } else {
    return static_cast<Target>(value);
  }
}

// The same of a field; as if it were absent if a peer of the version does not know it.
template <typename Target, typename Field, typename T>
auto stored(Builder& builder, const Field& field, const T& value, std::uint32_t version) {
  if constexpr (is_numbers_of<Field>) {
    std::vector<std::remove_cvref_t<decltype(std::declval<Target>()->Get(0))>> numbers;
    if (version >= field.since) {
      for (const auto& entry : value.*field.member) {
        collect(entry, numbers);
      }
    }
    return write_list(builder, numbers, version);
  } else if constexpr (is_former<Field>) {
    using Value = typename Field::Value;
    return stored_value<Target, Any>(builder, version <= field.last ? field.told(value) : Value{}, version);
  } else {
    using Rule = std::remove_cvref_t<decltype(field.rule)>;
    using Stored = decltype(stored_value<Target, Rule>(builder, value.*field.member, version));
    if (version >= field.since) {
      return stored_value<Target, Rule>(builder, value.*field.member, version);
    }
    if constexpr (std::is_arithmetic_v<Stored> || std::is_enum_v<Stored>) {
      return static_cast<Stored>(T{}.*field.member);  // the schema's default, which is not written
    } else {
      return Stored{};
    }
  }
}

// The same as an argument of the table's generated function, which takes structs by pointer.
template <typename Stored>
auto argument(const Stored& stored) {
  if constexpr (is_optional<Stored>) {
    return stored ? &*stored : nullptr;
  } else {
    return stored;
  }
}

template <IsTable T>
Offset<SchemaOf<T>> write(Builder& builder, const T& value, std::uint32_t version) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    // In braces, so that what lies outside is written in order, and before the table.
    const std::tuple all{stored<FieldType<T, I>>(builder, std::get<I>(Described<T>::fields), value, version)...};
    return SchemaOf<T>::Traits::Create(builder, argument(std::get<I>(all))...);
  }
  (indices<T>());
}

}  // namespace ballast::wire
