#include "common/net/stop_signals.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace ballast {

namespace {

// SIGUSR1 ends the waiting thread.
sigset_t waited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

void block_stop_signals() {
  const auto set = waited_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

StopSignals::StopSignals(std::function<void(const std::string& reason)> on_stop)
    : thread_([on_stop = std::move(on_stop)] {
        const auto set = waited_signals();
        int signal = 0;
        ::sigwait(&set, &signal);
        if (signal != SIGUSR1) {
          on_stop(signal == SIGTERM ? "stopped by SIGTERM" : "stopped by SIGINT");
        }
      }) {}

StopSignals::~StopSignals() {
  ::pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

}  // namespace ballast
