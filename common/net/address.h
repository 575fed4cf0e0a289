// Addresses of sockets, tcp://HOST:PORT or ipc://PATH, as texts.
#pragma once

#include <string>

namespace ballast {

// Whether only this machine can reach it: ipc, or tcp on a numeric loopback address or localhost.
bool is_local_address(const std::string& address);

// `bound` as others reach it: with `host` in place of the host that was bound to. If `host` is empty, a socket bound to
// every interface is reached by this machine's name; anything else is unchanged.
std::string advertised_address(const std::string& bound, const std::string& host);

// Why nobody can bind this ipc address now: its path is too long for a unix socket, or a process listens on it. Empty
// if it can be bound, and for addresses of tcp.
std::string why_ipc_not_bindable(const std::string& address);

}  // namespace ballast
