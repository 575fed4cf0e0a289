// Feeds arbitrary frames to the decoder of messages.
//
// The first byte chooses the payload frame, the rest is the header. Beyond not crashing, what decodes must be fit to be
// sent again: the decoder accepts what the encoder makes of it, and it says the same (compared as bytes, because a loss
// may be NaN, which equals nothing). What is refused must say why, in a line that can be logged and sent.
#include <algorithm>
#include <cstdint>

#include "common/wire/wire.h"
#include "tests/fuzz/expect.h"

namespace ballast::fuzz {
namespace {

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
    expect(std::holds_alternative<Message>(of_old), "a peer of an older version is sent a message");
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
    fuzz::expect_sendable(*message, payload_bytes, has_payload);
  } else {
    fuzz::expect_sendable(std::get<Refused>(decoded));
  }
  return 0;
}
