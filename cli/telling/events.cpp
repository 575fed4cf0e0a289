#include "cli/telling/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>

namespace ballast {

namespace {

// A pipe whose reader is gone is an error of write() and no SIGPIPE: that would end the program, or, where a run waits
// for signals, mean that nobody reads its output.
ssize_t write_without_signal(int fd, const std::string& text) {
  sigset_t pipe{};
  sigset_t before{};
  sigset_t pending{};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const auto written = write(fd, text.data(), text.size());
  const int error = errno;
  if (written < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec now{};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace

std::string utc_time(int fraction_digits) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d", static_cast<int>(since));
  return text.data() + (fraction_digits > 0 ? std::string(fraction.data()) : std::string()) + "Z";
}

EventStream::EventStream(const std::string& file)
    : file_(file), fd_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666)) {
  if (fd_ < 0) {
    const int error = errno;
    throw std::runtime_error("--events " + file + ": it cannot be opened: " + std::strerror(error) +
                             (error == ENXIO ? "; a pipe needs somebody who reads it first" : ""));
  }
}

EventStream::~EventStream() {
  write_pending();
  close(fd_);
}

std::unique_ptr<EventStream> open_events(const std::string& file) {
  return file.empty() ? nullptr : std::make_unique<EventStream>(file);
}

void EventStream::tell(const std::string& event, Json fields) {
  Json line;
  line["time"] = utc_time(3);
  line["event"] = event;
  line.update(fields);
  if (left_out_ > 0) {
    line["left_out"] = left_out_;
  }
  const auto text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (pending_.size() + text.size() > kMostPending) {
    ++left_out_;
  } else {
    left_out_ = 0;
    pending_ += text;
  }
  write_pending();
}

void EventStream::write_pending() {
  while (!pending_.empty()) {
    const auto written = write_without_signal(fd_, pending_);
    if (written < 0) {
      trouble_ = "events are not written to " + file_ + ": " +
                 (errno == EAGAIN ? "who reads them is slower than they come" : std::strerror(errno));
      return;
    }
    pending_.erase(0, static_cast<std::size_t>(written));
  }
  trouble_.clear();
}

}  // namespace ballast
