#include "server/worker_connections.h"

#include <utility>

#include "common/log/log.h"
#include "common/net/address.h"
#include "common/net/clock.h"

namespace ballast {
namespace {

// The largest frames are chunks; a header of as many chunks or marks as it may name has less.
constexpr std::int64_t kFrameBytes = kMaxChunkBytes + (64 << 10);
static_assert(4 * wire::kMaxPullChunks + wire::kMaxTextBytes < kFrameBytes);
static_assert(kMaxMarks * sizeof(JournalMark) + wire::kMaxTextBytes < kFrameBytes);

std::string named(const std::string& routing_id) {
  const auto from = parse_routing_id(routing_id);
  return from ? name_of_peer(from->peer) : "a stranger";
}

}  // namespace

WorkerConnections::WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes,
                                     const std::string& bind_address, const std::string& advertised_host,
                                     const ServerKeys& keys, std::shared_ptr<Intake> intake)
    : router_(context,
              {.buffer_bytes = static_cast<int>(buffer_bytes), .frame_bytes = kFrameBytes, .intake = std::move(intake)},
              bind_address, keys.secret_key()),
      address_(advertised_address(router_->endpoint(), advertised_host)),
      peers_(keys.authenticator()) {}

std::optional<std::variant<WorkerConnections::Incoming, WorkerConnections::Unreadable>> WorkerConnections::receive(
    Turn& turn) {
  auto received = router_->receive();
  if (!received) {
    read_up_at_ = monotonic_micros();
    return std::nullopt;
  }
  const auto from = parse_routing_id(received->peer);
  const auto* session = from ? std::get_if<SessionPeer>(&from->peer) : nullptr;
  if (session == nullptr) {
    return refuse(received->peer, {RefusalCode::malformed, "a lane talks to workers only, by their routing ids"},
                  kProtocolVersion);
  }
  const auto known_version = peers_.version_of(std::string(from->first));
  if (received->malformed) {
    return refuse(received->peer,
                  {RefusalCode::malformed, "a message has one header frame and at most one payload frame"},
                  known_version);
  }
  const auto payload_bytes = received->payload ? received->payload->size() : 0;
  turn.spend_header(received->header.size());
  turn.spend(payload_bytes);
  if (auto why = peers_.heard(*from, received->header.key()); !why.empty()) {
    return refuse(received->peer, {RefusalCode::not_taken, std::move(why)}, known_version);
  }
  auto decoded = decode(received->header.bytes(), payload_bytes, received->payload.has_value());
  if (peers_.speaks(*from, decoded.version)) {
    log_info("session {} speaks protocol version {}, and is answered in it", session->session, decoded.version);
  }
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    return refuse(received->peer, *refused,
                  version_to_refuse_in(decoded.version, peers_.version_of(std::string(from->first))));
  }
  return Incoming{session->session, std::move(std::get<Message>(decoded)), std::move(received->payload)};
}

WorkerConnections::Unreadable WorkerConnections::refuse(const std::string& peer, const Refused& refused,
                                                        std::uint32_t version) {
  log_warn("refused a message: {}", refused.text);
  tell(peer, refused, version);
  return {};
}

void WorkerConnections::send(SessionId session, const Message& message) {
  const auto first = session_routing_id(session);
  tell(peers_.reached_by(first), message, peers_.version_of(first));
}

void WorkerConnections::send(SessionId session, const Message& message, const Borrowed& payload) {
  const auto first = session_routing_id(session);
  tell(peers_.reached_by(first), message, peers_.version_of(first), &payload);
}

void WorkerConnections::tell(const std::string& peer, const Message& message, std::uint32_t version,
                             const Borrowed* payload) {
  if (auto frame = unsent_.frame(peer, encoder_.encode(message, version))) {
    router_->send(peer, *frame, payload);
    return;
  }
  log_warn("{} does not read what it is told, and is told no more meanwhile", named(peer));
  if (payload != nullptr) {
    payload->queue->put(payload->released);
  }
}

}  // namespace ballast
