#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/wire/check.h"
#include "common/wire/messages_table.h"
#include "common/wire/read.h"
#include "common/wire/wire.h"
#include "schemas/wire_generated.h"

namespace ballast {
namespace {

constexpr std::size_t kAlignment = 8;  // of the largest scalar in the schema

Refused malformed(std::string text) { return {RefusalCode::malformed, std::move(text)}; }

flatbuffers::Verifier verifier_of(std::span<const std::uint8_t> header) {
  flatbuffers::Verifier::Options options;
  options.max_depth = wire::kMaxTableDepth;
  options.max_tables = wire::kMaxTables;
  return flatbuffers::Verifier(header.data(), header.size(), options);
}

// The protocol version of a header which as a whole cannot be verified. Another version's body may look like anything;
// its envelope begins like ours.
std::optional<std::uint32_t> version_alone(std::span<const std::uint8_t> header) {
  using schema::Envelope;
  auto verifier = verifier_of(header);
  if (!schema::EnvelopeBufferHasIdentifier(header.data())) {
    return std::nullopt;
  }
  const auto at = verifier.VerifyOffset(0);
  if (at == 0) {
    return std::nullopt;
  }
  // Envelope hides its base; the base's checks are what its own Verify() is made of.
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(header.data() + at);
  if (!table->VerifyTableStart(verifier) ||
      !table->VerifyField<std::uint32_t>(verifier, Envelope::VT_PROTOCOL_VERSION, sizeof(std::uint32_t))) {
    return std::nullopt;
  }
  return table->GetField<std::uint32_t>(Envelope::VT_PROTOCOL_VERSION, 0);
}

// A Refused is in every version what it is in this one.
bool refuses_version(const schema::Envelope& envelope) {
  const auto* refused = envelope.body_as_Refused();
  return refused != nullptr && refused->code() == schema::RefusalCode::wrong_protocol;
}

Decoded of_version(Decoded decoded, std::uint32_t version, bool refuses_version) {
  decoded.version = version;
  decoded.refuses_version = refuses_version;
  return decoded;
}

std::optional<Refused> check_payload(const Message& message, std::uint64_t bytes, bool present,
                                     const WireLimits& limits) {
  const std::string name(message_name(message));
  if (!carries_payload(message)) {
    return present ? std::optional(malformed(name + " came with a payload frame; it must have none")) : std::nullopt;
  }
  if (!present) {
    return malformed(name + " came without its payload frame");
  }
  if (bytes == 0 || bytes % sizeof(float) != 0 || bytes > limits.payload_bytes) {
    return Refused{RefusalCode::out_of_range, name + "'s payload is " + std::to_string(bytes) +
                                                  " bytes long; a multiple of 4 from 4 to " +
                                                  std::to_string(limits.payload_bytes) + " is allowed"};
  }
  return std::nullopt;
}

// None of a version that has none, whatever stands there.
FrameClock clock_of(const schema::Envelope& envelope) {
  const auto* clock = envelope.protocol_version() < kClocksSince ? nullptr : envelope.clock();
  return clock == nullptr ? FrameClock{} : FrameClock{clock->sent(), clock->echo(), clock->held()};
}

std::optional<Refused> check_clock(const FrameClock& clock) {
  const auto fault = [](const char* name, Micros value) {
    return wire::inside(std::string("Envelope.clock.") + name, wire::fault_by(wire::kSpans, value));
  };
  for (const auto& why : {fault("sent", clock.sent), fault("echo", clock.echo), fault("held", clock.held)}) {
    if (why) {
      return Refused{RefusalCode::out_of_range, *why};
    }
  }
  return std::nullopt;
}

// `envelope` has been verified, and its version is spoken.
Decoded decode_verified(const schema::Envelope& envelope, std::uint64_t payload_bytes, bool has_payload,
                        const WireLimits& limits) {
  auto decoded = wire::read(envelope);
  const auto* message = std::get_if<Message>(&decoded);
  if (message == nullptr) {
    return decoded;
  }
  if (auto refused = check_payload(*message, payload_bytes, has_payload, limits)) {
    return std::move(*refused);
  }
  if (auto refused = wire::check(*message)) {
    return std::move(*refused);
  }
  decoded.clock = clock_of(envelope);
  if (auto refused = check_clock(decoded.clock)) {
    return std::move(*refused);
  }
  return decoded;
}

// `header` aligned to kAlignment.
Decoded decode_aligned(std::span<const std::uint8_t> header, std::uint64_t payload_bytes, bool has_payload,
                       const WireLimits& limits) {
  // Two offsets, and an identifier that may be read.
  if (header.size() < 2 * sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength) {
    return malformed("the header is " + std::to_string(header.size()) + " bytes long, too short for a message");
  }
  auto verifier = verifier_of(header);
  const bool verified = schema::VerifyEnvelopeBuffer(verifier);
  const auto* envelope = verified ? schema::GetEnvelope(header.data()) : nullptr;
  const auto version = verified ? std::optional(envelope->protocol_version()) : version_alone(header);
  const bool refuses = verified && refuses_version(*envelope);
  if (version && !is_spoken(*version)) {
    return of_version(Refused{RefusalCode::wrong_protocol, "Envelope.protocol_version is " + why_not_spoken(*version)},
                      *version, refuses);
  }
  if (!verified) {
    return of_version(
        malformed("the header of " + std::to_string(header.size()) + " bytes is not a Ballast message, or is damaged"),
        version.value_or(0), false);
  }
  return of_version(decode_verified(*envelope, payload_bytes, has_payload, limits), *version, refuses);
}

}  // namespace

Decoded decode(std::span<const std::byte> header, std::uint64_t payload_bytes, bool has_payload,
               const WireLimits& limits) {
  if (header.size() > limits.header_bytes) {
    return Refused{RefusalCode::out_of_range, "the header is " + std::to_string(header.size()) +
                                                  " bytes long; at most " + std::to_string(limits.header_bytes) +
                                                  " are allowed"};
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(header.data());
  if (reinterpret_cast<std::uintptr_t>(bytes) % kAlignment == 0) {
    return decode_aligned({bytes, header.size()}, payload_bytes, has_payload, limits);
  }
  // ZeroMQ hands out frames at any address. The usual header is small.
  alignas(kAlignment) std::array<std::uint8_t, 512> small;
  if (header.size() <= small.size()) {
    std::memcpy(small.data(), bytes, header.size());
    return decode_aligned({small.data(), header.size()}, payload_bytes, has_payload, limits);
  }
  std::vector<std::uint64_t> large((header.size() + kAlignment - 1) / kAlignment);
  std::memcpy(large.data(), bytes, header.size());
  return decode_aligned({reinterpret_cast<const std::uint8_t*>(large.data()), header.size()}, payload_bytes,
                        has_payload, limits);
}

std::string_view message_name(const Message& message) {
  return std::visit(
      [](const auto& body) { return std::string_view(wire::Described<std::remove_cvref_t<decltype(body)>>::name); },
      message);
}

std::uint32_t known_since(const Message& message) {
  return std::visit([](const auto& body) { return wire::Described<std::remove_cvref_t<decltype(body)>>::known_since; },
                    message);
}

bool carries_payload(const Message& message) {
  return std::holds_alternative<Push>(message) || std::holds_alternative<Weights>(message);
}

}  // namespace ballast
