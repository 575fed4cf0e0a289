// What is no message of ours, and frames that do not belong to it.
#include <limits>

#include "tests/unit/common/wire/refusal.h"

namespace ballast {
namespace {

std::vector<std::byte> of_version(std::uint32_t version) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = schema::CreateWorkerHello(builder, builder.CreateString("some name that is rather long"));
  schema::FinishEnvelopeBuffer(builder,
                               schema::CreateEnvelope(builder, version, schema::Body::WorkerHello, body.Union()));
  const auto bytes = bytes_of(builder);
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("another protocol version is named, and so is ours") {
  check_refused(decode(of_version(77), 0, false), RefusalCode::wrong_protocol,
                {"is 77, too new", ("to " + std::to_string(kProtocolVersion) + ":").c_str(), "upgrade"});
  check_refused(decode(of_version(kOldestProtocolVersion - 1), 0, false), RefusalCode::wrong_protocol,
                {"too old", ("versions " + std::to_string(kOldestProtocolVersion)).c_str(), "upgrade"});
  for (auto version = kOldestProtocolVersion; version <= kProtocolVersion; ++version) {
    CHECK(std::holds_alternative<Message>(decode(of_version(version), 0, false)));
  }
}

TEST_CASE("another protocol version is named even if its body means nothing to us") {
  auto header = of_version(77);
  header.resize(header.size() - 24);
  check_refused(decode(header, 0, false), RefusalCode::wrong_protocol,
                {"is 77, too new", ("to " + std::to_string(kProtocolVersion) + ":").c_str(), "upgrade"});
  auto ours = of_version(kProtocolVersion);
  ours.resize(ours.size() - 24);
  check_refused(decode(ours, 0, false), RefusalCode::malformed, {"not a Ballast message"});
}

TEST_CASE("what is no message is malformed") {
  check_refused(decode({}, 0, false), RefusalCode::malformed, {"0 bytes", "too short"});
  auto header = encoded(valid<Push>());
  header[4] ^= std::byte{1};  // the identifier
  check_refused(decode(header, 64, true), RefusalCode::malformed, {"not a Ballast message"});
}

TEST_CASE("a body of an unknown kind or none is malformed") {
  for (const int kind : {0, static_cast<int>(kKinds) + 1, 255}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = schema::CreateStale(builder, 1);
    schema::FinishEnvelopeBuffer(
        builder, schema::CreateEnvelope(builder, kProtocolVersion, static_cast<schema::Body>(kind), body.Union()));
    check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed,
                  {"Envelope.body", std::to_string(kind).c_str(), "1 to 31"});
  }
  flatbuffers::FlatBufferBuilder builder;
  schema::FinishEnvelopeBuffer(builder, schema::CreateEnvelope(builder, kProtocolVersion, schema::Body::Stale, 0));
  check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed, {"Envelope.body", "absent"});
}

TEST_CASE("a kind that the frame's version does not have is malformed") {
  for (const Message& message : {Message(valid<Offers>()), Message(valid<CallVoid>()), Message(valid<BytesReturned>()),
                                 Message(valid<Call>()), Message(valid<BytesAhead>()), Message(valid<ReturnAsked>())}) {
    CAPTURE(message_name(message));
    CHECK(known_since(message) == 14);
    Encoder encoder;
    check_refused(decode(encoder.encode(message, 13), 0, false), RefusalCode::malformed,
                  {"Envelope.body", std::to_string(message.index() + 1).c_str(), "1 to 23"});
  }
  CHECK(known_since(valid<Status>()) == 0);
}

TEST_CASE("a header larger than the receiver's limit is refused") {
  const auto header = encoded(valid<WorkerHello>());
  WireLimits limits;
  limits.header_bytes = header.size();
  CHECK(std::holds_alternative<Message>(decode(header, 0, false, limits)));
  limits.header_bytes = header.size() - 1;
  check_refused(decode(header, 0, false, limits), RefusalCode::out_of_range,
                {std::to_string(header.size()).c_str(), std::to_string(header.size() - 1).c_str()});
}

TEST_CASE("a payload frame comes with Push and Weights and with nothing else") {
  RandomMessages random(3);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto message = random.of_kind(kind);
    const std::string name(message_name(message));
    if (carries_payload(message)) {
      check_refused(decode(encoded(message), 0, false), RefusalCode::malformed, {name.c_str(), "without its payload"});
    } else {
      check_refused(decode(encoded(message), 4, true), RefusalCode::malformed, {name.c_str(), "must have none"});
      check_refused(decode(encoded(message), 0, true), RefusalCode::malformed, {name.c_str(), "must have none"});
    }
  }
}

TEST_CASE("a payload is whole floats of at most a chunk") {
  for (const Message& message : {Message(valid<Push>()), Message(valid<Weights>())}) {
    const auto header = encoded(message);
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{6}, kMaxChunkBytes + 4,
                                      std::numeric_limits<std::uint64_t>::max() - 3}) {
      check_refused(decode(header, bytes, true), RefusalCode::out_of_range,
                    {"payload", std::to_string(bytes).c_str(), "multiple of 4", "1048576"});
    }
    CHECK(std::holds_alternative<Message>(decode(header, 4, true)));
    CHECK(std::holds_alternative<Message>(decode(header, kMaxChunkBytes, true)));
  }
}

TEST_CASE("wire: a frame's clock comes as it was sent, and not at all to or from a peer of version 13") {
  const FrameClock clock{5'000'000, 7'000'000'000, 300};
  Encoder encoder;
  CHECK(decode(encoder.encode(WorkerHello{"a"}, kProtocolVersion, clock), 0, false).clock == clock);
  CHECK(decode(encoder.encode(WorkerHello{"a"}), 0, false).clock == FrameClock{});
  CHECK(decode(encoder.encode(WorkerHello{"a"}, 13, clock), 0, false).clock == FrameClock{});
  flatbuffers::FlatBufferBuilder builder;
  const schema::FrameClock told(1, 2, 3);
  const auto body = schema::CreateWorkerHello(builder, builder.CreateString("a"));
  schema::FinishEnvelopeBuffer(builder,
                               schema::CreateEnvelope(builder, 13, schema::Body::WorkerHello, body.Union(), &told));
  CHECK(decode(bytes_of(builder), 0, false).clock == FrameClock{});
}

TEST_CASE("wire: times of a frame's clock that are no times are refused") {
  constexpr Micros kBeyond = Micros{1} << 48U;
  Encoder encoder;
  for (const auto& [clock, name] : {std::pair{FrameClock{kBeyond, 1, 1}, "Envelope.clock.sent"},
                                    std::pair{FrameClock{1, kBeyond, 1}, "Envelope.clock.echo"},
                                    std::pair{FrameClock{1, 1, ~Micros{0}}, "Envelope.clock.held"}}) {
    check_refused(decode(encoder.encode(WorkerHello{"a"}, kProtocolVersion, clock), 0, false),
                  RefusalCode::out_of_range, {name, "below 2^48"});
  }
}

}  // namespace
}  // namespace ballast
