// Addresses of sockets, tcp://HOST:PORT or ipc://PATH, as texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

// Whether only this machine can reach it: ipc, or tcp on a numeric loopback address or localhost.
bool is_local_address(const std::string& address);
// A name of the kernel's instead of a file (ipc://@NAME): it has no rights, so every user of the machine may connect.
bool is_abstract_address(const std::string& address);

// Where the lane of this number listens, of a server that is told one address: tcp://HOST:PORT is that of lane 0, and
// each further lane takes the next port; a port of * or 0 is chosen by the system for each. A path of ipc gets
// "-l<lane>". Throws std::invalid_argument if there is no such port.
std::string lane_address(const std::string& base, std::uint32_t lane);

// `bound` as others reach it: with `host` in place of the host that was bound to. If `host` is empty, a socket bound to
// every interface is reached by this machine's name; anything else is unchanged.
std::string advertised_address(const std::string& bound, const std::string& host);

// `bound` as this machine itself reaches it: a socket bound to every interface by loopback, any other as it is.
std::string reached_from_here(const std::string& bound);

// Why nobody can bind this ipc address now: its path is too long for a unix socket, or a process listens on it. Empty
// if it can be bound, and for addresses of tcp.
std::string why_ipc_not_bindable(const std::string& address);

// Whether it is an address of tcp whose host is a name, and neither a number nor every interface.
bool is_named(const std::string& address);

// Where the name of an address leads to.
struct Resolution {
  std::vector<std::string> addresses;  // tcp://NUMBER:PORT, each once, the ones to be preferred first
  std::string why_not;                 // it does not resolve; empty: it does
};
// Asks the system's resolver, which may take seconds, for all addresses of a name, of IPv4 and IPv6. What is no named
// address is its own only one.
Resolution resolve(const std::string& address);

// Whether the host of a tcp address is a name that means nothing but this machine's loopback. Asks the resolver.
bool resolves_to_loopback(const std::string& address);

// Whether it says no host that could be connected to: it was bound to every interface.
bool is_everywhere(const std::string& address);

}  // namespace ballast
