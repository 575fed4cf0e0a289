#include "common/wire/read.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/messages_table.h"
#include "common/wire/reader.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {
namespace {

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

template <typename T, std::size_t I, typename Field>
void read_field(Reader& reader, const Path& whole, const SchemaOf<T>& at, const Field& field, T& value) {
  auto& member = value.*field.member;
  using Member = std::remove_cvref_t<decltype(member)>;
  const auto stored = at.template get_field<I>();
  const Path path{&whole, field.name};
  if constexpr (is_numbers_of<Field>) {
    // dealt to the structs before it
  } else if constexpr (std::is_same_v<Member, std::string>) {
    constexpr bool kJob = std::is_same_v<decltype(field.rule), JobText>;
    member = kJob ? reader.job(path, stored) : reader.line(path, stored);
  } else if constexpr (is_list<Member>) {
    if constexpr (counts_numbers<T, I>()) {
      member = list_with_numbers<T, I>(reader, path, at, field);
    } else {
      member = list<typename Member::value_type>(reader, path, stored, field.rule.limit);
    }
  } else if constexpr (is_optional<Member> && IsTable<ValueOr<Member>>) {
    member = stored != nullptr ? Member(table<ValueOr<Member>>(reader, path, *stored)) : std::nullopt;
  } else if constexpr (is_optional<Member>) {
    member = stored != nullptr ? Member(part<typename Member::value_type>(*stored)) : std::nullopt;
  } else if constexpr (IsTable<Member>) {
    member = stored != nullptr ? table<Member>(reader, path, *stored) : Member{};
  } else if constexpr (IsPart<Member>) {
    member = stored != nullptr ? part<Member>(*stored) : Member{};
  } else {
    member = static_cast<Member>(stored);
  }
}

template <IsTable T>
T table(Reader& reader, const Path& path, const SchemaOf<T>& at) {
  T value{};
  for_each_field<T>([&]<std::size_t I>(const auto& field) { read_field<T, I>(reader, path, at, field, value); });
  return value;
}

// ---- which table is which

using ReadBody = Message (*)(Reader&, const void*);

template <typename T>
Message body_of(Reader& reader, const void* at) {
  return table<T>(reader, {nullptr, Described<T>::name}, *static_cast<const SchemaOf<T>*>(at));
}

// One function for each kind of body, by its number in the union, whose order is the variant's; none for NONE.
template <typename... T>
constexpr auto readers_of(const std::variant<T...>* /*message*/) {
  static_assert(sizeof...(T) == static_cast<std::size_t>(schema::Body::MAX));
  std::array<ReadBody, sizeof...(T) + 1> readers{};
  ((readers[static_cast<std::size_t>(schema::BodyTraits<SchemaOf<T>>::enum_value)] = body_of<T>), ...);
  return readers;
}

constexpr auto kReaders = readers_of(static_cast<const Message*>(nullptr));

}  // namespace

Decoded read(const schema::Envelope& envelope) {
  const auto kind = static_cast<std::size_t>(envelope.body_type());
  if (kind == 0 || kind >= kReaders.size() || envelope.body() == nullptr) {
    return Refused{RefusalCode::malformed, "Envelope.body is of kind " + std::to_string(kind) +
                                               (envelope.body() == nullptr ? " and absent" : "") + "; kinds 1 to " +
                                               std::to_string(kReaders.size() - 1) + " are allowed, with a body"};
  }
  Reader reader;
  auto message = kReaders[kind](reader, envelope.body());
  if (reader.refusal()) {
    return std::move(*reader.refusal());
  }
  return message;
}

}  // namespace ballast::wire
