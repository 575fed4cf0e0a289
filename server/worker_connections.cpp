#include "server/worker_connections.h"

#include <algorithm>
#include <utility>

#include "common/log/log.h"
#include "common/net/address.h"

namespace ballast {
namespace {

// Anybody may name a session. Whoever is forgotten repeats what has no answer.
constexpr std::size_t kMostNoted = 64 * std::size_t{kMaxSessions};

}  // namespace

WorkerConnections::WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes,
                                     const std::string& bind_address, const std::string& advertised_host)
    : router_(context, {.buffer_bytes = static_cast<int>(buffer_bytes)}),
      address_(advertised_address(router_.bind(bind_address), advertised_host)) {}

std::optional<std::variant<WorkerConnections::Incoming, WorkerConnections::Unreadable>> WorkerConnections::receive(
    Turn& turn) {
  auto received = router_.receive();
  if (!received) {
    return std::nullopt;
  }
  const auto peer = parse_routing_id(received->peer);
  const auto* session = peer ? std::get_if<SessionPeer>(&*peer) : nullptr;
  if (session == nullptr) {
    return refuse(received->peer, {RefusalCode::malformed, "a lane talks to workers only, by their routing ids"});
  }
  if (received->malformed) {
    return refuse(received->peer,
                  {RefusalCode::malformed, "a message has one header frame and at most one payload frame"});
  }
  note(*session);
  const auto payload_bytes = received->payload ? received->payload->size() : 0;
  turn.spend(payload_bytes);
  auto decoded = decode(received->header.bytes(), payload_bytes, received->payload.has_value());
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    return refuse(received->peer, *refused);
  }
  return Incoming{session->session, std::move(std::get<Message>(decoded)), std::move(received->payload)};
}

WorkerConnections::Unreadable WorkerConnections::refuse(const std::string& peer, const Refused& refused) {
  log_warn("refused a message: {}", refused.text);
  router_.send(peer, encoder_.encode(refused));
  return {};
}

void WorkerConnections::note(const SessionPeer& peer) {
  if (newest_.size() >= kMostNoted && !newest_.contains(peer.session)) {
    newest_.clear();
  }
  auto& newest = newest_[peer.session];
  newest = std::max(newest, peer.connection);
}

std::string WorkerConnections::name_of(SessionId session) const {
  const auto known = newest_.find(session);
  return session_routing_id(session, known == newest_.end() ? 0 : known->second);
}

void WorkerConnections::send(SessionId session, const Message& message) {
  router_.send(name_of(session), encoder_.encode(message));
}

void WorkerConnections::send(SessionId session, const Message& message, const Borrowed& payload) {
  router_.send(name_of(session), encoder_.encode(message), payload);
}

}  // namespace ballast
