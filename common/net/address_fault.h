// What ZeroMQ says of an address that it does not take.
#pragma once

#include <cerrno>
#include <string>
#include <zmq.hpp>

namespace ballast {

inline bool is_tcp(const std::string& address) { return address.starts_with("tcp://"); }

// ZeroMQ says of one that is no address only that it is invalid.
inline std::string why_not_taken(const zmq::error_t& error) {
  const bool is_none = error.num() == EINVAL || error.num() == EPROTONOSUPPORT;
  return std::string(error.what()) + (is_none ? "; addresses are tcp://HOST:PORT or ipc://PATH" : "");
}

}  // namespace ballast
