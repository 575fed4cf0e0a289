// Who is connected to an address of this process, as the kernel knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

struct ConnectedPeer {
  std::string name;            // 10.0.0.7:41234, or "process 4711" over ipc
  std::uint64_t received = 0;  // bytes of it since it connected; 0 over ipc, where nobody counts
};

// Of the connections that were accepted at this endpoint (tcp://HOST:PORT or ipc://PATH), those that have sent most
// first. Looks at every descriptor of the process: for rare moments.
std::vector<ConnectedPeer> connected_peers(const std::string& endpoint);

// "3 are connected: 10.0.0.7:41234 (6144 MiB received), ...": the first ones, for a log.
std::string told(const std::vector<ConnectedPeer>& peers, std::size_t most = 16);

}  // namespace ballast
