// What the kernel says of one TCP connection.
#pragma once

#include <cstdint>
#include <optional>

#include "common/net/connection_descriptors.h"
#include "protocol/ids.h"

namespace ballast {

struct LinkInfo {
  Micros round_trip = 0;            // smoothed
  std::uint64_t retransmitted = 0;  // bytes, since the connection began
  std::uint64_t delivery_rate = 0;  // bytes a second that the peer has acknowledged of late; 0: not known yet
};

// Nothing if it is no TCP connection, or the descriptor is another's meanwhile.
std::optional<LinkInfo> link_info(const SystemSocket& socket);

}  // namespace ballast
