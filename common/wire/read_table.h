// FlatBuffers tables to plain values, as the version of the protocol says in which they were written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/fault_of.h"
#include "common/wire/fields.h"
#include "common/wire/reader.h"

namespace ballast::wire {

// ---- structs; an absent one is all zero, which check() judges

// For structs that count no numbers.
struct NoNumbers {};

template <IsPart T, typename Numbers>
T part(const SchemaOf<T>& at, Numbers& numbers);

template <std::size_t I, typename T, typename Field, typename Numbers>
void read_part_field(const SchemaOf<T>& at, const Field& field, Numbers& numbers, T& value) {
  auto& member = value.*field.member;
  using Member = std::remove_cvref_t<decltype(member)>;
  if constexpr (is_count<Field>) {
    member = numbers.take(at.template get_field<I>());
  } else if constexpr (IsPart<Member>) {
    member = part<Member>(at.template get_field<I>(), numbers);
  } else {
    member = static_cast<Member>(at.template get_field<I>());
  }
}

template <IsPart T, typename Numbers>
T part(const SchemaOf<T>& at, Numbers& numbers) {
  T value{};
  for_each_field<T>([&]<std::size_t I>(const auto& field) { read_part_field<I>(at, field, numbers, value); });
  return value;
}

template <IsPart T>
T part(const SchemaOf<T>& at) {
  NoNumbers none;
  return part<T>(at, none);
}

// ---- tables

template <IsTable T>
T table(Reader& reader, const Path& path, const SchemaOf<T>& at);

// Whether the field after this one holds the numbers of its structs.
template <typename T, std::size_t I>
constexpr bool counts_numbers() {
  using Fields = std::remove_cv_t<decltype(Described<T>::fields)>;
  if constexpr (I + 1 < std::tuple_size_v<Fields>) {
    return is_numbers_of<std::tuple_element_t<I + 1, Fields>>;
  } else {
    return false;
  }
}

template <typename Entry, typename Entries>
std::vector<Entry> list(Reader& reader, const Path& path, const Entries* entries, std::size_t limit) {
  if constexpr (IsTable<Entry>) {
    return reader.list(path, entries, limit, [&](const auto* one) { return table<Entry>(reader, path, *one); });
  } else if constexpr (IsPart<Entry>) {
    return reader.list(path, entries, limit, [](const auto* one) { return part<Entry>(*one); });
  } else {
    return reader.list(path, entries, limit, [](Entry number) { return number; });
  }
}

// Structs and, of the field after them, the numbers that they count.
template <typename T, std::size_t I, typename Field>
auto list_with_numbers(Reader& reader, const Path& path, const SchemaOf<T>& at, const Field& field) {
  using Entry = typename std::remove_cvref_t<decltype(std::declval<T>().*field.member)>::value_type;
  const auto& beside = std::get<I + 1>(Described<T>::fields);
  const Path numbers_path{path.parent, beside.name};
  Pieces numbers(reader, numbers_path, at.template get_field<I + 1>(), beside.limit);
  auto entries = reader.list(path, at.template get_field<I>(), field.rule.limit,
                             [&numbers](const auto* one) { return part<Entry>(*one, numbers); });
  numbers.finish();
  return entries;
}

// A number, a text or a part; `Rule` is the field's.
template <typename Value, typename Rule, typename Stored>
Value read_value(Reader& reader, const Path& path, const Stored& stored) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return std::is_same_v<Rule, JobText> ? reader.job(path, stored) : reader.line(path, stored);
  } else if constexpr (is_optional<Value>) {
    return stored != nullptr ? Value(read_value<typename Value::value_type, Rule>(reader, path, stored)) : std::nullopt;
  } else if constexpr (IsTable<Value>) {
    return stored != nullptr ? table<Value>(reader, path, *stored) : Value{};
  } else if constexpr (IsPart<Value>) {
    return stored != nullptr ? part<Value>(*stored) : Value{};
  } else {
    return static_cast<Value>(stored);
  }
}

// What a field of older versions says is put into the fields that stand for it now, if it keeps its rules.
template <typename Field, typename Stored, typename T>
void read_former(Reader& reader, const Path& path, const Field& field, const Stored& stored, T& value) {
  const auto former = read_value<typename Field::Value, Any>(reader, path, stored);
  if (reader.refusal()) {
    return;
  }
  if (const auto fault = fault_of(former)) {
    return reader.refuse(RefusalCode::out_of_range, path.text() + *fault);
  }
  field.taken(value, former);
}

template <typename T, std::size_t I, typename Field>
void read_field(Reader& reader, const Path& whole, const SchemaOf<T>& at, const Field& field, T& value) {
  const Path path{&whole, field.name};
  if constexpr (is_numbers_of<Field>) {
    // dealt to the structs before it
  } else if constexpr (is_former<Field>) {
    if (reader.version() <= field.last) {
      read_former(reader, path, field, at.template get_field<I>(), value);
    }
  } else if (reader.version() >= field.since) {
    auto& member = value.*field.member;
    using Member = std::remove_cvref_t<decltype(member)>;
    const auto stored = at.template get_field<I>();
    if constexpr (!is_list<Member>) {
      member = read_value<Member, std::remove_cvref_t<decltype(field.rule)>>(reader, path, stored);
    } else if constexpr (counts_numbers<T, I>()) {
      member = list_with_numbers<T, I>(reader, path, at, field);
    } else {
      member = list<typename Member::value_type>(reader, path, stored, field.rule.limit);
    }
  }
}

template <IsTable T>
T table(Reader& reader, const Path& path, const SchemaOf<T>& at) {
  T value{};
  for_each_field<T>([&]<std::size_t I>(const auto& field) { read_field<T, I>(reader, path, at, field, value); });
  return value;
}

}  // namespace ballast::wire
