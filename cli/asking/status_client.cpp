#include "cli/asking/status_client.h"

#include <random>
#include <utility>
#include <variant>

#include "common/net/clock.h"
#include "common/net/peer.h"

namespace ballast {

namespace {

// Long enough for the last word to leave; a lead that is gone must not keep us.
constexpr int kLingerMs = 200;

// So many in a row without an answer: the lead is not there.
constexpr int kSilentAsks = 8;

std::uint64_t random_name() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

}  // namespace

StatusClient::StatusClient(zmq::context_t& context, const std::string& lead, std::unique_ptr<ClientKeys> keys)
    : lead_(lead),
      keys_(std::move(keys)),
      socket_(context, client_routing_id(random_name()), SocketOptions{kLingerMs}, keys_.get()) {
  socket_.connect(lead);
}

void StatusClient::ask(bool last) { send(StatusRequest{last}); }

void StatusClient::tell(Control::Command command) { send(Control{command}); }

// A lead that was silent for a while may be another process than before.
void StatusClient::send(const Message& message) {
  if (++unanswered_ > kSilentAsks && conversation_.version() != kProtocolVersion) {
    conversation_.begin_anew();
    unanswered_ = 0;
  }
  socket_.send({}, encoder_.encode(message, conversation_.version()));
  conversation_.sent();
  said_ = message;
}

std::optional<std::string> StatusClient::hopeless() const {
  const auto& why = conversation_.hopeless();
  return why ? std::optional("the lead at " + lead_ + *why) : std::nullopt;
}

std::string StatusClient::why_silent() const {
  if (!refusal_.empty()) {
    return ": it refuses to: " + refusal_;
  }
  return socket_.refusal().empty() ? std::string() : ": " + socket_.refusal();
}

std::optional<Status> StatusClient::take() {
  hear();
  return std::exchange(status_, std::nullopt);
}

std::optional<TracePart> StatusClient::take_part() {
  hear();
  return std::exchange(part_, std::nullopt);
}

void StatusClient::hear() {
  socket_.keep_name(conversation_.version() <= kOneNameVersion);
  socket_.tick(monotonic_micros());
  while (auto received = socket_.receive()) {
    if (received->malformed) {
      continue;
    }
    const auto payload = received->payload ? received->payload->size() : 0;
    auto decoded = decode(received->header.bytes(), payload, received->payload.has_value());
    const auto asked_in = conversation_.version();
    if (!conversation_.heard(decoded)) {
      continue;
    }
    unanswered_ = 0;
    if (conversation_.version() < asked_in && said_) {
      send(*said_);  // who asks once must not have asked in vain
    }
    refusal_.clear();
    if (auto* message = std::get_if<Message>(&decoded)) {
      hear(*message);
    }
  }
}

void StatusClient::hear(Message& message) {
  if (const auto* refused = std::get_if<Refused>(&message);
      refused != nullptr && refused->code == RefusalCode::not_taken) {
    refusal_ = refused->text;
  } else if (auto* status = std::get_if<Status>(&message)) {
    status_ = std::move(*status);
  } else if (auto* part = std::get_if<TracePart>(&message)) {
    part_ = std::move(*part);
  }
}

}  // namespace ballast
