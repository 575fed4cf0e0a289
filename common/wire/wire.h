// The protocol's messages as bytes: a FlatBuffers header frame (schemas/wire.fbs) which a Push or a Weights follows
// with one raw payload frame of fp32 values. docs/wire.md describes both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "common/wire/frame_clock.h"
#include "common/wire/versions.h"
#include "common/wire/wire_limits.h"
#include "protocol/messages.h"

namespace flatbuffers {
class FlatBufferBuilder;
}

namespace ballast {

// Turns messages into header frames. Its buffer grows to the largest message and is used again, so that a hot message
// costs no allocation. One thread at a time.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  // The header of `message`; valid until the next call.
  // Free text (Refused::text, Goodbye::reason, every `failure` and `trouble`, Status::waits_for) is made acceptable to
  // the receiver: control characters and invalid UTF-8 are replaced and what exceeds wire::kMaxTextBytes is cut off,
  // because losing the report of a failure to its own wording would be worse. Everything else is sent as it is: a
  // sender that exceeds a limit is refused by the receiver.
  // `version`: in which the receiver is spoken to. What it does not know is left out, or put in its words.
  std::span<const std::byte> encode(const Message& message, std::uint32_t version = kProtocolVersion,
                                    const FrameClock& clock = {});

 private:
  std::unique_ptr<flatbuffers::FlatBufferBuilder> builder_;
};

// A message whose parts are in range and do not contradict each other, or why it is none: the text names the field, its
// value and what is allowed.
struct Decoded : std::variant<Message, Refused> {
  using variant::variant;
  std::uint32_t version = 0;     // in which it was written, whether that is spoken here or not; 0: that cannot be told
  bool refuses_version = false;  // it is a Refused because of the version, in whatever version
  FrameClock clock;
};

// Reads and checks one message; whatever the bytes are, it returns. Checks all that can be told without knowing a job
// or a state. `header` needs no alignment. `has_payload`: whether a second frame came; `payload_bytes`: its size, 0
// without one; its contents are not looked at. Safe to call from any thread. Codes: malformed, wrong_protocol,
// out_of_range.
Decoded decode(std::span<const std::byte> header, std::uint64_t payload_bytes, bool has_payload,
               const WireLimits& limits = {});

// "Push", "Receipt" and so on: for logs, metrics and refusals.
std::string_view message_name(const Message& message);

// The first version of the protocol that has messages of its kind; 0: all that are spoken. A peer of an older one
// refuses it.
std::uint32_t known_since(const Message& message);

// Whether a payload frame belongs to the message.
bool carries_payload(const Message& message);

}  // namespace ballast
