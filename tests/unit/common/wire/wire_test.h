// What the tests of the wire share.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "common/wire/wire.h"

namespace ballast {

inline constexpr std::size_t kKinds = std::variant_size_v<Message>;

inline std::vector<std::byte> encoded(const Message& message) {
  Encoder encoder;
  const auto header = encoder.encode(message);
  return {header.begin(), header.end()};
}

// With a payload frame exactly where the message has one.
inline Decoded decode_with_payload(std::span<const std::byte> header, const Message& message) {
  return carries_payload(message) ? decode(header, 64, true) : decode(header, 0, false);
}

inline void check_decodes_to(std::span<const std::byte> header, const Message& message) {
  CAPTURE(message_name(message));
  const auto decoded = decode_with_payload(header, message);
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    FAIL_CHECK(refused->text);
    return;
  }
  CHECK(std::get<Message>(decoded) == message);
}

}  // namespace ballast
