#include "common/net/link_info.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

#include "common/net/connected_peers.h"

namespace ballast {

// The descriptor may become another's between the two looks: what is read then is of a connection that stands as well,
// and is forgotten with the next look.
std::optional<LinkInfo> link_info(const SystemSocket& socket) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (socket.cookie == 0 || ::getsockopt(socket.descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < offsetof(tcp_info, tcpi_bytes_retrans) + sizeof(info.tcpi_bytes_retrans) ||
      connection_cookie(socket.descriptor) != socket.cookie) {
    return std::nullopt;
  }
  return LinkInfo{info.tcpi_rtt, info.tcpi_bytes_retrans, info.tcpi_delivery_rate};
}

}  // namespace ballast
