#include "worker/lead_socket.h"

#include <variant>

#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"

namespace ballast {

LeadSocket::LeadSocket(const std::string& address, SessionId session)
    : address_(address), socket_(context_, session_routing_id(session)), reach_(address) {
  socket_.connect(address);
}

std::optional<Decoded> LeadSocket::receive() {
  const auto received = socket_.receive();
  if (!received) {
    return std::nullopt;
  }
  auto decoded = decode(received->header.bytes(), 0, received->payload.has_value());
  if (const auto* message = std::get_if<Message>(&decoded)) {
    reach_.heard(*message, monotonic_micros());
  } else {
    log_warn("what answers at the lead's address {} cannot be read: {}", address_, std::get<Refused>(decoded).text);
  }
  return decoded;
}

}  // namespace ballast
