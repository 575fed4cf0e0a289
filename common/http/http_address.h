// HOST:PORT as a socket address, and why one cannot be listened on.
#pragma once

#include <cstdint>
#include <string>

namespace ballast {

struct HttpAddress {
  std::string host;     // as it was given, without brackets
  std::string numeric;  // resolved; an IPv6 address without brackets
  bool ipv6 = false;
  std::uint16_t port = 0;

  // "127.0.0.1:9090", "[::1]:9090"
  [[nodiscard]] std::string bindable() const;
};

// Reads "HOST:PORT", "[IPV6]:PORT" or ":PORT" (every interface) and resolves the host. Throws std::runtime_error with a
// sentence for a user.
HttpAddress resolve_http_address(const std::string& address);

// Why nothing can be listened to where the system said this (errno), with the remedy where one is known.
std::string why_not_listening(int code);

// Tries to bind it and tells the system's reason; empty if it can be bound now.
std::string why_not_bindable(const HttpAddress& address);

// Begins a connection to it and gives it up at once; never blocks, and no failure matters.
void touch(const HttpAddress& address);

}  // namespace ballast
