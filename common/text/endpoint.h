// Addresses as people type them: what is one, and what is wrong with one that is not.
#pragma once

#include <string>
#include <string_view>

namespace ballast {

// HOST:PORT, [v6]:PORT or *:PORT with a port of 0 to 65535.
bool is_host_port(std::string_view text);

// tcp://HOST:PORT, or ipc://PATH.
bool is_endpoint(std::string_view text);

// What is wrong with an address to connect to, in a sentence that begins with it; empty if nothing is.
std::string endpoint_fault(std::string_view text);

// The same of an address to listen on: the port may be 0 or * for one that the system chooses.
std::string bind_fault(std::string_view text);

// The same of a HOST:PORT to listen on.
std::string host_port_fault(std::string_view text);

// The same of a host without a port, by which others are to connect: a name or an address.
std::string host_fault(std::string_view text);

}  // namespace ballast
