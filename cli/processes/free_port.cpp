#include "cli/processes/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ballast {

namespace {

sockaddr_in on_loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

bool is_port_free(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int reuse = 1;  // as a server does: connections of its earlier life that linger are no hindrance
  const auto address = on_loopback(port);
  const bool is_free = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) == 0 &&
                       bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
                       listen(fd, 1) == 0;
  if (fd >= 0) {
    close(fd);
  }
  return is_free;
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = on_loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool found = fd >= 0 && bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  const int error = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (!found) {
    throw std::runtime_error("no free TCP port on loopback: " + std::string(std::strerror(error)));
  }
  return ntohs(address.sin_port);
}

}  // namespace ballast
