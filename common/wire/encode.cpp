#include "common/wire/messages_table.h"
#include "common/wire/wire.h"
#include "common/wire/write_table.h"
#include "schemas/wire_generated.h"

namespace ballast {
namespace wire {
namespace {

template <typename Table>
void finish(Builder& builder, Offset<Table> body, std::uint32_t version, const FrameClock& clock) {
  constexpr auto kKind = schema::BodyTraits<Table>::enum_value;
  const schema::FrameClock told(clock.sent, clock.echo, clock.held);
  const bool is_told = clock.sent != 0 && version >= kClocksSince;
  schema::FinishEnvelopeBuffer(
      builder, schema::CreateEnvelope(builder, version, kKind, body.Union(), is_told ? &told : nullptr));
}

}  // namespace
}  // namespace wire

Encoder::Encoder() : builder_(std::make_unique<flatbuffers::FlatBufferBuilder>()) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

std::span<const std::byte> Encoder::encode(const Message& message, std::uint32_t version, const FrameClock& clock) {
  builder_->Clear();
  std::visit([&](const auto& body) { wire::finish(*builder_, wire::write(*builder_, body, version), version, clock); },
             message);
  return std::as_bytes(std::span(builder_->GetBufferPointer(), builder_->GetSize()));
}

}  // namespace ballast
