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

Refused wrong_protocol(std::uint32_t theirs) {
  return {RefusalCode::wrong_protocol, "Envelope.protocol_version is " + std::to_string(theirs) +
                                           "; this process speaks version " + std::to_string(kProtocolVersion) +
                                           ": run the same release of Ballast everywhere"};
}

// `header` aligned to kAlignment.
std::optional<Refused> verify(std::span<const std::uint8_t> header) {
  // Two offsets, and an identifier that may be read.
  if (header.size() < 2 * sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength) {
    return malformed("the header is " + std::to_string(header.size()) + " bytes long, too short for a message");
  }
  auto verifier = verifier_of(header);
  const bool verified = schema::VerifyEnvelopeBuffer(verifier);
  const auto version = verified ? schema::GetEnvelope(header.data())->protocol_version()
                                : version_alone(header).value_or(kProtocolVersion);
  if (version != kProtocolVersion) {
    return wrong_protocol(version);
  }
  if (!verified) {
    return malformed("the header of " + std::to_string(header.size()) +
                     " bytes is not a Ballast message, or is damaged");
  }
  return std::nullopt;
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

Decoded decode_aligned(std::span<const std::uint8_t> header, std::uint64_t payload_bytes, bool has_payload,
                       const WireLimits& limits) {
  if (auto refused = verify(header)) {
    return std::move(*refused);
  }
  auto decoded = wire::read(*schema::GetEnvelope(header.data()));
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
  return decoded;
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

bool carries_payload(const Message& message) {
  return std::holds_alternative<Push>(message) || std::holds_alternative<Weights>(message);
}

}  // namespace ballast
