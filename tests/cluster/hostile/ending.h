// SIGTERM ends a hostile program at its next look, so that it can say what it did.
#pragma once

#include <csignal>

namespace ballast::hostile {

// The signal waits to be looked at: a handler would interrupt what ZeroMQ is at, which throws then.
inline void end_when_told() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

inline bool is_told_to_end() {
  sigset_t signals;
  return sigpending(&signals) == 0 && sigismember(&signals, SIGTERM) == 1;
}

}  // namespace ballast::hostile
