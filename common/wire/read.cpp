#include "common/wire/read.h"

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "common/wire/messages_table.h"
#include "common/wire/read_table.h"
#include "common/wire/reader.h"
#include "schemas/wire_generated.h"

namespace ballast::wire {
namespace {

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

// The newest of a version: the last in the union that it has.
template <typename... T>
std::size_t last_kind(std::uint32_t version, const std::variant<T...>* /*message*/) {
  return (std::size_t{Described<T>::known_since <= version ? 1U : 0U} + ...);
}

}  // namespace

Decoded read(const schema::Envelope& envelope) {
  const auto kind = static_cast<std::size_t>(envelope.body_type());
  const auto last = last_kind(envelope.protocol_version(), static_cast<const Message*>(nullptr));
  if (kind == 0 || kind > last || envelope.body() == nullptr) {
    return Refused{RefusalCode::malformed, "Envelope.body is of kind " + std::to_string(kind) +
                                               (envelope.body() == nullptr ? " and absent" : "") + "; kinds 1 to " +
                                               std::to_string(last) + " are allowed, with a body"};
  }
  Reader reader(envelope.protocol_version());
  auto message = kReaders[kind](reader, envelope.body());
  if (reader.refusal()) {
    return std::move(*reader.refusal());
  }
  return message;
}

}  // namespace ballast::wire
