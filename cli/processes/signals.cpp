#include "cli/processes/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace ballast {

namespace {

int open_blocked_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) {
    sigaddset(&set, signal);
  }
  if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "signals cannot be blocked");
  }
  const int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0) {
    throw std::system_error(errno, std::generic_category(), "signals cannot be waited for");
  }
  return fd;
}

}  // namespace

Signals::Signals() : fd_(open_blocked_signals()) {}

Signals::~Signals() { close(fd_); }

std::optional<int> Signals::next() const {
  signalfd_siginfo info{};
  if (read(fd_, &info, sizeof(info)) != sizeof(info)) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

}  // namespace ballast
