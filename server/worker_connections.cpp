#include "server/worker_connections.h"

#include <algorithm>
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

// All are cut for one that can't be ended otherwise: not often.
constexpr Micros kRenewApart = 30'000'000;

SocketOptions lane_socket(std::uint64_t buffer_bytes, std::shared_ptr<Intake> intake) {
  return {.buffer_bytes = static_cast<int>(buffer_bytes),
          .tells_connections = true,
          .frame_bytes = kFrameBytes,
          .intake = std::move(intake)};
}

std::string named(const std::string& routing_id) {
  const auto from = parse_routing_id(routing_id);
  return from ? name_of_peer(from->peer) : "a stranger";
}

}  // namespace

WorkerConnections::WorkerConnections(zmq::context_t& context, std::uint64_t buffer_bytes,
                                     const std::string& bind_address, const std::string& advertised_host,
                                     const ServerKeys& keys, std::shared_ptr<Intake> intake)
    : router_(context, lane_socket(buffer_bytes, std::move(intake)), bind_address, keys.secret_key()),
      address_(advertised_address(router_->endpoint(), advertised_host)),
      peers_(keys.authenticator()),
      unsent_(keys.authenticator() != nullptr) {
  watch(0);
}

void WorkerConnections::watch(std::uint64_t after) {
  standing_ = std::make_unique<StandingConnections>(*router_, SocketOptions{}.unread, after);
  unread_since_ = {standing_->rounds().now(), monotonic_micros()};
}

// Beside one that speaks without end no read finds the socket empty.
void WorkerConnections::follow_rounds() {
  const auto& rounds = standing_->rounds();
  if (rounds.is_read(unread_since_.moment)) {
    read_up_at_ = std::max(read_up_at_, unread_since_.at);
    unread_since_ = {rounds.now(), monotonic_micros()};
  }
}

// What came over the old connections and was not received never will be.
std::string WorkerConnections::renew() {
  const auto ended = standing_->all();
  ended_.insert(ended_.end(), ended.begin(), ended.end());
  auto who = router_.renew();
  watch(standing_->heard());
  return who;
}

std::vector<StandingConnections::Ended> WorkerConnections::take_ended() {
  auto ended = std::exchange(ended_, {});
  const auto more = standing_->take_ended();
  ended.insert(ended.end(), more.begin(), more.end());
  return ended;
}

bool WorkerConnections::tick(Micros now) {
  for (const auto& due : standing_->probes(now)) {
    probe(due);
  }
  const bool is_due = standing_->drop_again(now) && (renewed_at_ == 0 || now >= renewed_at_ + kRenewApart);
  renewed_at_ = is_due ? now : renewed_at_;
  return is_due;
}

void WorkerConnections::drop(SessionId session, ConnectionId connection) {
  if (standing_->drop(connection, monotonic_micros())) {
    log_warn("ends a connection of session {}, which does not answer as it was asked to", session);
  }
}

// One that is over reads nothing any more, and so has no room; nobody gets the probe. To others it is a message that
// says nothing to them.
void WorkerConnections::probe(const StandingConnections::Probe& probe) {
  const auto from = parse_routing_id(probe.routing_id);
  const auto bytes = encoder_.encode(Gone{}, peers_.version_of(std::string(from->first)));
  if (probe.is_over) {
    zmq::message_t frame(bytes.data(), bytes.size());
    send_frame_to(probe.routing_id, frame, nullptr);
  } else if (auto frame = unsent_.frame({probe.routing_id, peers_.public_key_of(std::string(from->first))}, bytes)) {
    send_frame_to(probe.routing_id, *frame, nullptr);
  }
}

std::optional<std::variant<WorkerConnections::Incoming, WorkerConnections::Unreadable>> WorkerConnections::receive(
    Turn& turn) {
  auto received = router_->receive();
  if (!received) {
    if (!router_->is_skipping()) {
      read_up_at_ = monotonic_micros();
      standing_->found_empty();
    }
    return std::nullopt;
  }
  standing_->read(received->peer);
  follow_rounds();
  const auto from = parse_routing_id(received->peer);
  const auto* session = from ? std::get_if<SessionPeer>(&from->peer) : nullptr;
  if (session == nullptr) {
    return refuse(*received, {RefusalCode::malformed, "a lane talks to workers only, by their routing ids"},
                  kProtocolVersion);
  }
  const auto known_version = peers_.version_of(std::string(from->first));
  if (received->malformed) {
    return refuse(*received, {RefusalCode::malformed, "a message has one header frame and at most one payload frame"},
                  known_version);
  }
  const auto payload_bytes = received->payload ? received->payload->size() : 0;
  turn.spend_header(received->header.size());
  turn.spend(payload_bytes);
  if (auto why = peers_.heard(*from, received->header.key()); !why.empty()) {
    return refuse(*received, {RefusalCode::not_taken, std::move(why)}, known_version);
  }
  auto& connection = standing_->heard(*from, session->session, received->header, monotonic_micros());
  auto decoded = decode(received->header.bytes(), payload_bytes, received->payload.has_value());
  if (peers_.speaks(*from, decoded.version)) {
    log_info("session {} speaks protocol version {}, and is answered in it", session->session, decoded.version);
  }
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    return refuse(*received, *refused,
                  version_to_refuse_in(decoded.version, peers_.version_of(std::string(from->first))));
  }
  auto& message = std::get<Message>(decoded);
  if (const auto* hello = std::get_if<LaneHello>(&message)) {
    connection.takes_calls = hello->takes_calls;
  }
  return Incoming{session->session, std::move(message), std::move(received->payload),
                  connection.id,    connection.payer,   decoded.clock.sent};
}

WorkerConnections::Unreadable WorkerConnections::refuse(const Received& received, const Refused& refused,
                                                        std::uint32_t version) {
  log_warn("refused a message of {}: {}", named(received.peer), refused.text);
  tell({received.peer, received.header.key()}, refused, version);
  return {refused.code};
}

void WorkerConnections::send(SessionId session, const Message& message) {
  const auto first = session_routing_id(session);
  const auto routing_id = peers_.reached_by(first);
  tell({routing_id, peers_.public_key_of(first)}, message, peers_.version_of(first));
}

void WorkerConnections::send(SessionId session, ConnectionId connection, const Message& message,
                             const Borrowed& payload) {
  const auto first = session_routing_id(session);
  if (const auto routing_id = standing_->routing_id(connection)) {
    tell({*routing_id, peers_.public_key_of(first)}, message, peers_.version_of(first), &payload);
  } else {
    payload.queue->put(payload.released);
  }
}

void WorkerConnections::tell(UnsentReplies::To to, const Message& message, std::uint32_t version,
                             const Borrowed* payload) {
  const std::string peer(to.name);
  if (auto frame = unsent_.frame(to, encoder_.encode(message, version, {monotonic_micros()}))) {
    if (!send_frame_to(peer, *frame, payload) && !router_->is_unreachable()) {
      not_told(peer, payload != nullptr);
    }
    return;
  }
  not_told(peer, payload != nullptr);
  if (payload != nullptr) {
    payload->queue->put(payload->released);
  }
}

bool WorkerConnections::send_frame_to(const std::string& peer, zmq::message_t& frame, const Borrowed* payload) {
  const bool is_taken = router_->send(peer, frame, payload);
  if (!is_taken && router_->is_unreachable()) {
    standing_->unreachable(peer);
  }
  return is_taken;
}

void WorkerConnections::not_told(const std::string& peer, bool is_payload) {
  const auto* connection = standing_->find(peer);
  if (is_payload || connection == nullptr || !connection->takes_calls) {
    log_warn("{} does not read what it is told, and is told no more meanwhile", named(peer));
  } else if (standing_->drop(connection->id, monotonic_micros())) {
    log_warn("{} does not read what it is told: its connection is ended", named(peer));
  }
}

}  // namespace ballast
