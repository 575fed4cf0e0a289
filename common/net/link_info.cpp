#include "common/net/link_info.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace ballast {

SystemSocket system_socket(int descriptor) {
  SystemSocket socket{descriptor, 0};
  socklen_t size = sizeof(socket.cookie);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &socket.cookie, &size) != 0) {
    socket.cookie = 0;
  }
  return socket;
}

// The descriptor may become another's between the two looks: what is read then is of a connection that stands as well,
// and is forgotten with the next look.
std::optional<LinkInfo> link_info(const SystemSocket& socket) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (socket.cookie == 0 || ::getsockopt(socket.descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < offsetof(tcp_info, tcpi_bytes_retrans) + sizeof(info.tcpi_bytes_retrans) ||
      system_socket(socket.descriptor).cookie != socket.cookie) {
    return std::nullopt;
  }
  return LinkInfo{info.tcpi_rtt, info.tcpi_bytes_retrans, info.tcpi_delivery_rate};
}

}  // namespace ballast
