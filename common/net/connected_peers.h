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
  std::string host = {};       // of the name; empty over ipc
  int descriptor = -1;
  std::uint64_t cookie = 0;
};

// Of the connections that were accepted at this endpoint (tcp://HOST:PORT or ipc://PATH), those that have sent most
// first. Looks at every descriptor of the process: for rare moments.
std::vector<ConnectedPeer> connected_peers(const std::string& endpoint);

// A number that no other connection of this machine has or had, for descriptors are used again; 0: it has ended.
std::uint64_t connection_cookie(int descriptor);
// The host at a connection's other end, as numbers; empty if it has ended, or is none over tcp.
std::string connection_address(int descriptor);

// "3 are connected: 10.0.0.7:41234 (6144 MiB received), ...": the first ones, for a log.
std::string told(const std::vector<ConnectedPeer>& peers, std::size_t most = 16);

}  // namespace ballast
