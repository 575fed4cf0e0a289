// Messages with one thing wrong, and what must be said of it.
#pragma once

#include <initializer_list>
#include <string>

#include "schemas/wire_generated.h"
#include "tests/unit/common/wire/random_message.h"
#include "tests/unit/common/wire/wire_test.h"

namespace ballast {

using Words = std::initializer_list<const char*>;

// The refusal has the code, and its text holds all the words.
inline void check_refused(const Decoded& decoded, RefusalCode code, Words words) {
  const auto* refused = std::get_if<Refused>(&decoded);
  REQUIRE(refused != nullptr);
  INFO(refused->text);
  CHECK(refused->code == code);
  for (const auto* word : words) {
    CHECK_MESSAGE(refused->text.find(word) != std::string::npos, word);
  }
}

inline void check_message_refused(const Message& message, RefusalCode code, Words words) {
  check_refused(decode_with_payload(encoded(message), message), code, words);
}

inline void check_out_of_range(const Message& message, Words words) {
  check_message_refused(message, RefusalCode::out_of_range, words);
}

template <typename Body>
Body valid(std::uint64_t seed = 1) {
  RandomMessages random(seed);
  return std::get<Body>(random.of_kind(Message(Body{}).index()));
}

template <typename Body, typename Change>
Body changed(Change change) {
  auto body = valid<Body>();
  change(body);
  return body;
}

inline std::span<const std::byte> bytes_of(const flatbuffers::FlatBufferBuilder& builder) {
  return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
}

}  // namespace ballast
