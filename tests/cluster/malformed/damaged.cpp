#include <random>

#include "common/wire/wire.h"
#include "schemas/wire_generated.h"
#include "tests/cluster/malformed/cases.h"
#include "tests/unit/common/wire/random_message.h"

namespace ballast::malformed {

namespace {

// Sends the header if it is no message, and expects what the decoder says of it.
void damaged(Judge& judge, Probe& probe, const std::string& name, const Bytes& header) {
  const auto decoded = decode(header, 0, false);
  if (const auto* expected = std::get_if<Refused>(&decoded)) {
    judge.refused(name, probe, Frames{header}, expected->code, {expected->text});
  }
}

Bytes of_version(std::uint32_t version) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = schema::CreateWorkerHello(builder, builder.CreateString("a worker of tomorrow"));
  schema::FinishEnvelopeBuffer(builder,
                               schema::CreateEnvelope(builder, version, schema::Body::WorkerHello, body.Union()));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

void random_bytes(Judge& judge, Probe& probe, const std::string& name) {
  std::mt19937_64 random(11);
  for (const std::size_t size : {0, 1, 3, 4, 8, 12, 16, 31, 100, 1000, 70'000}) {
    Bytes bytes(size);
    for (auto& byte : bytes) {
      byte = static_cast<std::byte>(random());
    }
    damaged(judge, probe, name + ": " + std::to_string(size) + " random bytes", bytes);
  }
}

void every_kind(Judge& judge, Probe& probe, const std::string& name) {
  RandomMessages random(7);
  for (std::size_t kind = 0; kind < std::variant_size_v<Message>; ++kind) {
    const auto message = random.of_kind(kind);
    const auto whole = encoded(message);
    const auto what = name + ": " + std::string(message_name(message));
    for (const auto size : {std::size_t{5}, std::size_t{12}, whole.size() / 2, whole.size() - 4}) {
      damaged(judge, probe, what + " cut to " + std::to_string(size) + " bytes",
              Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    auto other_identifier = whole;
    other_identifier[4] ^= std::byte{1};
    judge.refused(what + " with another identifier", probe, Frames{other_identifier}, RefusalCode::malformed,
                  {"not a Ballast message"});
  }
}

}  // namespace

void damaged_headers(Judge& judge, Probe& probe, const std::string& name) {
  random_bytes(judge, probe, name);
  every_kind(judge, probe, name);
  judge.refused(name + ": another protocol version", probe, Frames{of_version(kProtocolVersion + 1)},
                RefusalCode::wrong_protocol, {std::to_string(kProtocolVersion + 1) + ", too new", "same release"});
  judge.refused(name + ": three frames", probe, Frames{encoded(StatusRequest{}), Bytes(4), Bytes(4)},
                RefusalCode::malformed, {"frame"});
}

void oversize_frames(Judge& judge, zmq::context_t& context, const Target& target, std::size_t mebibytes) {
  const auto of = " of " + std::to_string(mebibytes) + " MiB";
  Probe header(context, target.address, "w" + std::string(7, 'o') + "1");
  header.send(Frames{Bytes(mebibytes << 20U)});
  judge.expect(target.name + ": a header" + of, header.is_cut(), "the connection was not cut");
  Probe payload(context, target.address, "w" + std::string(7, 'o') + "2");
  payload.send(Frames{encoded(LaneHello{}), Bytes(mebibytes << 20U)});
  judge.expect(target.name + ": a payload" + of, payload.is_cut(), "the connection was not cut");
}

}  // namespace ballast::malformed
