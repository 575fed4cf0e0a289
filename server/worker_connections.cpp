#include "server/worker_connections.h"

#include <utility>

#include "common/log/log.h"
#include "common/net/address.h"

namespace ballast {
WorkerConnections::WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes,
                                     const std::string& bind_address, const std::string& advertised_host,
                                     const ServerKeys& keys)
    : router_(context, {.buffer_bytes = static_cast<int>(buffer_bytes)}, keys.secret_key()),
      address_(advertised_address(router_.bind(bind_address), advertised_host)),
      peers_(keys.authenticator()) {}

std::optional<std::variant<WorkerConnections::Incoming, WorkerConnections::Unreadable>> WorkerConnections::receive(
    Turn& turn) {
  auto received = router_.receive();
  if (!received) {
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
  router_.send(peer, encoder_.encode(refused, version));
  return {};
}

void WorkerConnections::send(SessionId session, const Message& message) {
  const auto first = session_routing_id(session);
  router_.send(peers_.reached_by(first), encoder_.encode(message, peers_.version_of(first)));
}

void WorkerConnections::send(SessionId session, const Message& message, const Borrowed& payload) {
  const auto first = session_routing_id(session);
  router_.send(peers_.reached_by(first), encoder_.encode(message, peers_.version_of(first)), payload);
}

}  // namespace ballast
