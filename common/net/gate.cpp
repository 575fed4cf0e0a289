#include "common/net/gate.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ballast {

Gate::Gate(int listening) : fd_(::fcntl(listening, F_DUPFD_CLOEXEC, 0)) {
  if (fd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch a listening socket");
  }
  // Two accept now: who comes second must not wait for a connection that the first one has taken.
  ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

Gate::~Gate() { ::close(fd_); }

void Gate::shut() {
  sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &drop};
  ::setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

void Gate::open() {
  const int unused = 0;
  ::setsockopt(fd_, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
}

bool Gate::turn_away() {
  while (true) {
    const int connection = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) {
      ::close(connection);
    } else if (errno == EMFILE || errno == ENFILE) {
      return false;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return true;
    }
  }
}

}  // namespace ballast
