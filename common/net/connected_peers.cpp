#include "common/net/connected_peers.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace ballast {
namespace {

using Name = sockaddr_storage;
using Query = int (*)(int, sockaddr*, socklen_t*);

std::optional<Name> name_by(Query query, int descriptor) {
  Name name{};
  socklen_t size = sizeof(name);
  if (query(descriptor, reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return std::nullopt;
  }
  return name;
}

std::uint16_t port_of(const Name& name) {
  if (name.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(name).sin_port);
  }
  return name.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(name).sin6_port) : 0;
}

bool is_at(const Name& own, const std::string& endpoint) {
  if (own.ss_family == AF_UNIX) {
    return endpoint == std::string("ipc://") + reinterpret_cast<const sockaddr_un&>(own).sun_path;
  }
  return endpoint.starts_with("tcp://") && endpoint.ends_with(":" + std::to_string(port_of(own)));
}

std::string host_of(const Name& peer) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  const void* address = peer.ss_family == AF_INET
                            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(peer).sin_addr)
                            : &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  ::inet_ntop(peer.ss_family, address, host.data(), host.size());
  return host.data();
}

ConnectedPeer of_tcp(int descriptor, const Name& peer) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size);
  auto host = host_of(peer);
  auto name = host + ":" + std::to_string(port_of(peer));
  return {std::move(name), info.tcpi_bytes_received, std::move(host), descriptor, connection_cookie(descriptor)};
}

ConnectedPeer of_ipc(int descriptor) {
  ucred who{};
  socklen_t size = sizeof(who);
  ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &size);
  return {"process " + std::to_string(who.pid)};
}

std::optional<ConnectedPeer> peer_at(int descriptor, const std::string& endpoint) {
  const auto own = name_by(::getsockname, descriptor);
  if (!own || !is_at(*own, endpoint)) {
    return std::nullopt;
  }
  const auto peer = name_by(::getpeername, descriptor);
  if (!peer) {
    return std::nullopt;  // it listens there
  }
  return own->ss_family == AF_UNIX ? of_ipc(descriptor) : of_tcp(descriptor, *peer);
}

std::vector<int> open_descriptors_now() {
  std::vector<int> open;
  std::error_code failure;
  for (std::filesystem::directory_iterator at("/proc/self/fd", failure), end; !failure && at != end;
       at.increment(failure)) {
    const auto name = at->path().filename().string();
    int descriptor = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), descriptor).ec == std::errc{}) {
      open.push_back(descriptor);
    }
  }
  return open;
}

}  // namespace

std::vector<ConnectedPeer> connected_peers(const std::string& endpoint) {
  std::vector<ConnectedPeer> peers;
  for (const int descriptor : open_descriptors_now()) {
    if (auto peer = peer_at(descriptor, endpoint)) {
      peers.push_back(std::move(*peer));
    }
  }
  std::ranges::stable_sort(peers, std::ranges::greater{}, &ConnectedPeer::received);
  return peers;
}

std::uint64_t connection_cookie(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

std::string connection_address(int descriptor) {
  const auto peer = name_by(::getpeername, descriptor);
  return peer && peer->ss_family != AF_UNIX ? host_of(*peer) : std::string();
}

std::string told(const std::vector<ConnectedPeer>& peers, std::size_t most) {
  std::string text = std::to_string(peers.size()) + (peers.size() == 1 ? " is connected" : " are connected");
  for (std::size_t i = 0; i < std::min(most, peers.size()); ++i) {
    text += (i == 0 ? ": " : ", ") + peers[i].name;
    if (peers[i].received > 0) {
      text += " (" + std::to_string(peers[i].received >> 20U) + " MiB received)";
    }
  }
  return text + (peers.size() > most ? ", ..." : "");
}

}  // namespace ballast
