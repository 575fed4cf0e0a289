#include "server/lead_connection.h"

#include <utility>
#include <variant>

#include "common/job/load.h"
#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"

namespace ballast {

namespace {

constexpr auto* kQuestion =
    "is this where others reach the server of shard 0 (its --lead and --advertise), does that server run, and is its "
    "port open to this machine?";

}  // namespace

std::optional<std::string> RefusalNews::of(const Message& message) {
  if (std::holds_alternative<Confirm>(message)) {
    told_.clear();
  }
  const auto* refused = std::get_if<Refused>(&message);
  if (refused == nullptr || refused->code != RefusalCode::not_taken || refused->text == told_) {
    return std::nullopt;
  }
  told_ = refused->text;
  return told_;
}

LeadConnection::LeadConnection(zmq::context_t& context, LaneId lane, Incarnation incarnation,
                               const std::string& address, bool watched, std::string job_yaml, ClientKeys* keys)
    : address_(address),
      socket_(context, lane_routing_id(lane, incarnation), {}, keys),
      job_yaml_(std::move(job_yaml)) {
  if (watched) {
    reach_.emplace(address, "server", kQuestion);
  }
  socket_.connect(address);
}

void LeadConnection::begin(Micros now) {
  if (reach_) {
    reach_->begin(now);
  }
}

// A lead that is there may have nothing to say to a shard before all the others are there as well.
void LeadConnection::tick(Micros now) {
  socket_.keep_name(conversation_.version() <= kOneNameVersion);
  socket_.tick(now);
  if (!reach_) {
    return;
  }
  if (socket_.is_connected()) {
    reach_->heard(now);
  }
  reach_->tick(now, socket_.refusal());
}

std::optional<Decoded> LeadConnection::receive() {
  while (auto received = socket_.receive()) {
    auto decoded = decode(received->header.bytes(), 0, received->payload.has_value());
    clock_.heard(decoded.clock, monotonic_micros());
    if (conversation_.heard(decoded)) {
      tell(decoded);
      return decoded;
    }
  }
  return std::nullopt;
}

void LeadConnection::tell(Decoded& decoded) {
  if (const auto news = conversation_.news()) {
    log_info("the lead speaks {}", *news);
  }
  if (const auto* unreadable = std::get_if<Refused>(&decoded)) {
    log_warn("a message of the lead cannot be read: {}", unreadable->text);
    return;
  }
  auto& message = std::get<Message>(decoded);
  if (auto* refused = std::get_if<Refused>(&message); refused != nullptr && !refused->job.empty()) {
    refused->text += ", which differs in " + differing_keys(refused->job, job_yaml_) + " (the lead's against this one)";
  }
  if (const auto news = refusals_.of(message)) {
    log_warn("the lead does not take this server, which goes on asking: {}", *news);
  }
}

void LeadConnection::send(const Message& message) {
  socket_.send({}, encoder_.encode(message, conversation_.version(), {monotonic_micros()}));
  conversation_.sent();
}

std::optional<std::string> LeadConnection::hopeless() const {
  const auto& why = conversation_.hopeless();
  return why ? std::optional("the lead at " + address_ + *why) : std::nullopt;
}

}  // namespace ballast
