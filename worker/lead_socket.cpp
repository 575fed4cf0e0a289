#include "worker/lead_socket.h"

#include <variant>

#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"

namespace ballast {

LeadSocket::LeadSocket(const std::string& address, SessionId session, ClientKeys* keys)
    : address_(address), socket_(context_, session_routing_id(session), {}, keys), reach_(address) {
  socket_.connect(address);
}

std::optional<Decoded> LeadSocket::receive() {
  while (const auto received = socket_.receive()) {
    auto decoded = decode(received->header.bytes(), 0, received->payload.has_value());
    clock_.heard(decoded.clock, monotonic_micros());
    if (!conversation_.heard(decoded)) {
      continue;
    }
    if (const auto news = conversation_.news()) {
      log_info("the lead speaks {}", *news);
    }
    if (const auto* message = std::get_if<Message>(&decoded)) {
      reach_.heard(*message, monotonic_micros());
    } else {
      log_warn("what answers at the lead's address {} cannot be read: {}", address_, std::get<Refused>(decoded).text);
    }
    return decoded;
  }
  return std::nullopt;
}

void LeadSocket::send(const Message& message) {
  socket_.send({}, encoder_.encode(message, conversation_.version(), {monotonic_micros()}));
  conversation_.sent();
}

std::optional<std::string> LeadSocket::hopeless() const {
  const auto& why = conversation_.hopeless();
  return why ? std::optional("the lead at " + address_ + *why) : std::nullopt;
}

}  // namespace ballast
