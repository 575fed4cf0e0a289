#include "common/net/server_socket.h"

#include <chrono>
#include <exception>
#include <thread>

#include "common/net/connected_peers.h"

namespace ballast {

ServerSocket::ServerSocket(zmq::context_t& context, const SocketOptions& options, const std::string& address,
                           const std::string& secret_key)
    : context_(context),
      options_(options),
      secret_key_(secret_key),
      router_(std::make_unique<Router>(context, options, secret_key)) {
  router_->bind(address);
}

// Somebody may have a hold of the gate, and with it of the address, for a moment more.
std::string ServerSocket::renew() {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience{5};
  const auto endpoint = router_->endpoint();
  auto who = told(connected_peers(endpoint));
  router_->leave();
  const auto until = steady_clock::now() + kPatience;
  while (true) {
    try {
      router_ = std::make_unique<Router>(context_, options_, secret_key_);
      router_->bind(endpoint);
      return who;
    } catch (const std::exception&) {  // also that no descriptor is free at this instant
      router_->close();
      if (steady_clock::now() >= until) {
        throw;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace ballast
