#include "server/worker_connections.h"

#include <algorithm>
#include <utility>

#include "common/log/log.h"
#include "common/net/address.h"
#include "common/net/clock.h"

namespace ballast {
namespace {

// Anybody may name a session. Whoever is forgotten repeats what has no answer.
constexpr std::size_t kMostNoted = 64 * std::size_t{kMaxSessions};

// The largest frames are chunks; a header of as many chunks or marks as it may name has less.
constexpr std::int64_t kFrameBytes = kMaxChunkBytes + (64 << 10);
static_assert(4 * wire::kMaxPullChunks + wire::kMaxTextBytes < kFrameBytes);
static_assert(kMaxMarks * sizeof(JournalMark) + wire::kMaxTextBytes < kFrameBytes);

std::string named(const std::string& routing_id) {
  const auto peer = parse_routing_id(routing_id);
  return peer ? name_of_peer(*peer) : "a stranger";
}

}  // namespace

WorkerConnections::WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes,
                                     const std::string& bind_address, const std::string& advertised_host)
    : router_(context, {.buffer_bytes = static_cast<int>(buffer_bytes), .frame_bytes = kFrameBytes}, bind_address),
      address_(advertised_address(router_->endpoint(), advertised_host)) {}

std::optional<std::variant<WorkerConnections::Incoming, WorkerConnections::Unreadable>> WorkerConnections::receive(
    Turn& turn) {
  auto received = router_->receive();
  if (!received) {
    read_up_at_ = monotonic_micros();
    return std::nullopt;
  }
  const auto peer = parse_routing_id(received->peer);
  const auto* session = peer ? std::get_if<SessionPeer>(&*peer) : nullptr;
  if (session == nullptr) {
    return refuse(received->peer, {RefusalCode::malformed, "a lane talks to workers only, by their routing ids"},
                  kProtocolVersion);
  }
  if (received->malformed) {
    return refuse(received->peer,
                  {RefusalCode::malformed, "a message has one header frame and at most one payload frame"},
                  known(session->session).version);
  }
  const auto payload_bytes = received->payload ? received->payload->size() : 0;
  turn.spend_header(received->header.size());
  turn.spend(payload_bytes);
  auto decoded = decode(received->header.bytes(), payload_bytes, received->payload.has_value());
  note(*session, decoded.version);
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    return refuse(received->peer, *refused, version_to_refuse_in(decoded.version, known(session->session).version));
  }
  return Incoming{session->session, std::move(std::get<Message>(decoded)), std::move(received->payload)};
}

WorkerConnections::Unreadable WorkerConnections::refuse(const std::string& peer, const Refused& refused,
                                                        std::uint32_t version) {
  log_warn("refused a message: {}", refused.text);
  tell(peer, refused, version);
  return {};
}

// `version` 0: it could not be told.
void WorkerConnections::note(const SessionPeer& peer, std::uint32_t version) {
  if (known_.size() >= kMostNoted && !known_.contains(peer.session)) {
    known_.clear();
  }
  auto& noted = known_[peer.session];
  if (peer.connection > noted.connection) {
    noted = {peer.connection, kProtocolVersion};
  }
  if (peer.connection == noted.connection && is_spoken(version) && std::exchange(noted.version, version) != version) {
    log_info("session {} speaks protocol version {}, and is answered in it", peer.session, version);
  }
}

WorkerConnections::Known WorkerConnections::known(SessionId session) const {
  const auto found = known_.find(session);
  return found == known_.end() ? Known{} : found->second;
}

void WorkerConnections::send(SessionId session, const Message& message) {
  const auto [connection, version] = known(session);
  tell(session_routing_id(session, connection), message, version);
}

void WorkerConnections::send(SessionId session, const Message& message, const Borrowed& payload) {
  const auto [connection, version] = known(session);
  tell(session_routing_id(session, connection), message, version, &payload);
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
