#include "common/net/stop_signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

namespace ballast {

namespace {

constexpr int kExitSignal = 128;

// SIGUSR1 ends the waiting thread.
sigset_t waited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  return set;
}

std::string reason_of(int signal) { return signal == SIGTERM ? "stopped by SIGTERM" : "stopped by SIGINT"; }

}  // namespace

void block_stop_signals() {
  const auto set = waited_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

StopSignals::StopSignals(std::function<void(const std::string& reason)> on_stop)
    : thread_([this, on_stop = std::move(on_stop)] {
        if (const int signal = next(); signal != SIGUSR1) {
          caught_ = signal;
          on_stop(reason_of(signal));
          if (const int second = next(); second != SIGUSR1) {
            ::_exit(kExitSignal + second);
          }
        }
      }) {}

StopSignals::~StopSignals() {
  is_over_ = true;
  ::pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// SIGUSR1: this is over.
int StopSignals::next() const {
  const auto set = waited_signals();
  while (true) {
    int signal = 0;
    if (::sigwait(&set, &signal) == 0 && (signal != SIGUSR1 || is_over_)) {
      return signal;
    }
  }
}

std::optional<int> StopSignals::exit_code(const std::string& reason) const {
  const int caught = caught_;
  return caught != 0 && reason == reason_of(caught) ? exit_code() : std::nullopt;
}

std::optional<int> StopSignals::exit_code() const {
  const int caught = caught_;
  return caught != 0 ? std::optional(kExitSignal + caught) : std::nullopt;
}

}  // namespace ballast
