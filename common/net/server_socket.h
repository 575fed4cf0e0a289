// A bound ROUTER that can be made anew at its address.
#pragma once

#include <memory>
#include <string>

#include "common/net/router.h"

namespace ballast {

// One thread.
class ServerSocket {
 public:
  // Binds at once, as Router::bind() does. `secret_key`: as Router has it.
  ServerSocket(zmq::context_t& context, const SocketOptions& options, const std::string& address,
               const std::string& secret_key = {});

  Router& operator*() { return *router_; }
  Router* operator->() { return router_.get(); }
  [[nodiscard]] const Router* operator->() const { return router_.get(); }

  // Cuts all who are connected, frees what they had sent and was not read, and binds the address again, where they come
  // again by themselves. Who they were, for a log. Polls of the socket and holds of its gate are of no use afterwards.
  // Takes a moment, in which nothing is read; throws std::runtime_error if the address is not to be had again.
  std::string renew();

 private:
  zmq::context_t& context_;
  SocketOptions options_;
  std::string secret_key_;
  std::unique_ptr<Router> router_;  // never null
};

}  // namespace ballast
