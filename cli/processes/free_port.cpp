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

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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
