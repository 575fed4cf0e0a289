// Feeds arbitrary frames to the decoder of messages.
//
// The first byte chooses the payload frame, the rest is the header. Beyond not crashing, what decodes must be fit to be
// sent again: the decoder accepts what the encoder makes of it, and it says the same (compared as bytes, because a loss
// may be NaN, which equals nothing), and every whole number of it lies in its range. What is refused must say why, in a
// line that can be logged and sent.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/wire/wire.h"
#include "tests/fuzz/expect.h"
#include "tests/unit/common/wire/each_number.h"

namespace ballast::fuzz {
namespace {

// By a walk of its own, and not by that of the decoder.
void expect_in_range(Message message) {
  wire::each_number(message, [](const std::string& /*path*/, const auto& number, const auto& rule) {
    if constexpr (requires { rule.holds(number); }) {
      expect(rule.holds(number), "a number lies in its range");
    }
    if constexpr (requires { rule.last(); }) {
      expect(number <= rule.last() || number == static_cast<std::remove_cvref_t<decltype(number)>>(~std::uint64_t{0}),
             "a number is no larger than its last value, or the one that means none");
    }
  });
}

void expect_sendable(const Message& message, std::uint64_t payload_bytes, bool has_payload) {
  Encoder encoder;
  const auto sent = encoder.encode(message);
  const auto again = decode(sent, payload_bytes, has_payload);
  expect(std::holds_alternative<Message>(again), "what was decoded and encoded again decodes");
  Encoder another;
  expect(std::ranges::equal(another.encode(std::get<Message>(again)), sent), "it says the same");
  expect(carries_payload(message) == has_payload, "a payload comes with the messages that carry one");
  for (auto version = kOldestProtocolVersion; version < kProtocolVersion; ++version) {
    const auto of_old = decode(encoder.encode(message, version), payload_bytes, has_payload);
    expect(std::holds_alternative<Message>(of_old) == (version >= known_since(message)),
           "a peer of an older version is sent a message, if it knows the kind");
    expect(of_old.version == version, "it is of that version");
  }
}

void expect_sendable(const Refused& refused) {
  expect_line(refused.text);
  expect(refused.text.size() <= wire::kMaxTextBytes, "a refusal's text can be sent");
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast;
  if (size == 0) {
    return 0;
  }
  const bool has_payload = data[0] % 2 != 0;
  const std::uint64_t payload_bytes = has_payload ? std::uint64_t{data[0]} * 4 : 0;
  const auto decoded = decode(std::as_bytes(std::span(data + 1, size - 1)), payload_bytes, has_payload);
  if (const auto* message = std::get_if<Message>(&decoded)) {
    fuzz::expect_in_range(*message);
    fuzz::expect_sendable(*message, payload_bytes, has_payload);
  } else {
    fuzz::expect_sendable(std::get<Refused>(decoded));
  }
  return 0;
}
