#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/text/text.h"
#include "common/wire/messages_table.h"
#include "common/wire/wire.h"
#include "schemas/wire_generated.h"

namespace ballast {
namespace wire {
namespace {

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
Offset<SchemaOf<T>> write(Builder& builder, const T& value);

Offset<flatbuffers::String> write_text(Builder& builder, const std::string& text) {
  return text.empty() ? Offset<flatbuffers::String>{} : builder.CreateString(text);
}

Offset<flatbuffers::String> write_free_text(Builder& builder, const std::string& text) {
  const bool fits = text.size() <= kMaxTextBytes && !text_fault(text, TextKind::line);
  return write_text(builder, fits ? text : as_line(text, kMaxTextBytes));
}

template <typename Number>
Offset<Vector<Number>> write_list(Builder& builder, const std::vector<Number>& numbers) {
  return numbers.empty() ? Offset<Vector<Number>>{} : builder.CreateVector(numbers);
}

template <IsPart T>
Offset<Vector<const SchemaOf<T>*>> write_list(Builder& builder, const std::vector<T>& values) {
  using Part = SchemaOf<T>;
  if (values.empty()) {
    return {};
  }
  // Not CreateUninitializedVectorOfStructs: FlatBuffers 2 aligns that by the struct's size, e.g. to 20 bytes.
  return builder.CreateVectorOfStructs<Part>(values.size(),
                                             [&values](std::size_t i, Part* at) { *at = part(values[i]); });
}

template <IsTable T>
Offset<Vector<Offset<SchemaOf<T>>>> write_list(Builder& builder, const std::vector<T>& values) {
  std::vector<Offset<SchemaOf<T>>> tables;
  tables.reserve(values.size());
  for (const auto& value : values) {
    tables.push_back(write(builder, value));
  }
  return values.empty() ? Offset<Vector<Offset<SchemaOf<T>>>>{} : builder.CreateVector(tables);
}

// ---- tables

// A field as the table holds it: a number, a struct, or the place of what lies outside.
template <typename Target, typename Field, typename T>
auto stored(Builder& builder, const Field& field, const T& value) {
  const auto& member = value.*field.member;
  using Member = std::remove_cvref_t<decltype(member)>;
  if constexpr (is_numbers_of<Field>) {
    std::vector<std::remove_cvref_t<decltype(std::declval<Target>()->Get(0))>> numbers;
    for (const auto& entry : member) {
      collect(entry, numbers);
    }
    return write_list(builder, numbers);
  } else if constexpr (std::is_same_v<Member, std::string>) {
    constexpr bool kFree = std::is_same_v<decltype(field.rule), FreeText>;
    return kFree ? write_free_text(builder, member) : write_text(builder, member);
  } else if constexpr (is_list<Member>) {
    return write_list(builder, member);
  } else if constexpr (is_optional<Member> && IsTable<ValueOr<Member>>) {
    return member ? write(builder, *member) : Offset<SchemaOf<ValueOr<Member>>>{};
  } else if constexpr (is_optional<Member>) {
    return member ? std::optional(part(*member)) : std::nullopt;
  } else if constexpr (IsTable<Member>) {
    return member == Member{} ? Offset<SchemaOf<Member>>{} : write(builder, member);
  } else if constexpr (IsPart<Member>) {
    return part(member);
  } else {
    return static_cast<Target>(member);
  }
}

// The same as an argument of the table's generated function, which takes structs by pointer.
template <typename Stored>
auto argument(const Stored& stored) {
  if constexpr (is_optional<Stored>) {
    return stored ? &*stored : nullptr;
  } else if constexpr (std::is_class_v<Stored> && !requires { stored.o; }) {
    return &stored;
  } else {
    return stored;
  }
}

template <IsTable T>
Offset<SchemaOf<T>> write(Builder& builder, const T& value) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    // In braces, so that what lies outside is written in order, and before the table.
    const std::tuple all{stored<FieldType<T, I>>(builder, std::get<I>(Described<T>::fields), value)...};
    return SchemaOf<T>::Traits::Create(builder, argument(std::get<I>(all))...);
  }
  (indices<T>());
}

template <typename Table>
void finish(Builder& builder, Offset<Table> body) {
  constexpr auto kKind = schema::BodyTraits<Table>::enum_value;
  schema::FinishEnvelopeBuffer(builder, schema::CreateEnvelope(builder, kProtocolVersion, kKind, body.Union()));
}

}  // namespace
}  // namespace wire

Encoder::Encoder() : builder_(std::make_unique<flatbuffers::FlatBufferBuilder>()) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

std::span<const std::byte> Encoder::encode(const Message& message) {
  builder_->Clear();
  std::visit([this](const auto& body) { wire::finish(*builder_, wire::write(*builder_, body)); }, message);
  return std::as_bytes(std::span(builder_->GetBufferPointer(), builder_->GetSize()));
}

}  // namespace ballast
