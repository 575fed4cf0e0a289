// Ports for processes that have to be told one.
#pragma once

#include <cstdint>

namespace ballast {

// A loopback TCP port that was free a moment ago. Somebody else may take it before its user does; then the user says
// so. Throws std::runtime_error if there is none.
std::uint16_t free_port();

// Whether a server could listen there now.
bool is_port_free(std::uint16_t port);

}  // namespace ballast
