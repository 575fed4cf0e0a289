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

std::uint64_t random_name() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

}  // namespace

StatusClient::StatusClient(zmq::context_t& context, const std::string& lead)
    : socket_(context, client_routing_id(random_name()), SocketOptions{kLingerMs}) {
  socket_.connect(lead);
}

void StatusClient::ask(bool last) { socket_.send({}, encoder_.encode(StatusRequest{last})); }

void StatusClient::tell(Control::Command command) { socket_.send({}, encoder_.encode(Control{command})); }

std::optional<Status> StatusClient::take() {
  socket_.tick(monotonic_micros());
  std::optional<Status> newest;
  while (auto received = socket_.receive()) {
    if (received->malformed) {
      continue;
    }
    const auto payload = received->payload ? received->payload->size() : 0;
    auto decoded = decode(received->header.bytes(), payload, received->payload.has_value());
    auto* message = std::get_if<Message>(&decoded);
    if (message != nullptr && std::holds_alternative<Status>(*message)) {
      newest = std::move(std::get<Status>(*message));
    }
  }
  return newest;
}

}  // namespace ballast
