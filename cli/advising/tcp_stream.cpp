#include "cli/advising/tcp_stream.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace ballast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPiece = std::size_t{1} << 18U;
constexpr std::chrono::milliseconds kOpening{300};
constexpr timeval kStallsAtMost{5, 0};

std::string reason() { return std::generic_category().message(errno); }

std::uint64_t micros_between(Clock::time_point from, Clock::time_point until) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(until - from).count());
}

}  // namespace

TcpStream::TcpStream(int descriptor) : descriptor_(descriptor) {
  const int on = 1;
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kStallsAtMost, sizeof(kStallsAtMost));
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &kStallsAtMost, sizeof(kStallsAtMost));
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

TcpStream& TcpStream::operator=(TcpStream&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

// A time limit of sending is one of connecting as well.
TcpStream TcpStream::connect(const HttpAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.numeric.c_str(), std::to_string(address.port).c_str(), &hints, &found) != 0) {
    throw std::runtime_error("it is no address");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> holder(found, &::freeaddrinfo);
  TcpStream stream(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (stream.descriptor() < 0 || ::connect(stream.descriptor(), found->ai_addr, found->ai_addrlen) != 0) {
    throw std::runtime_error(errno == EINPROGRESS ? "nobody answers" : reason());
  }
  return stream;
}

void TcpStream::close() {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

void TcpStream::drop_unsent() const {
  const linger none{1, 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

bool TcpStream::send(std::string_view text) const {
  while (!text.empty()) {
    const auto sent = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool TcpStream::send_now(std::string_view text) const {
  return ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(text.size());
}

std::optional<char> TcpStream::byte() const {
  char one = 0;
  return ::recv(descriptor_, &one, 1, 0) == 1 ? std::optional(one) : std::nullopt;
}

std::optional<std::string> TcpStream::line(std::size_t most, std::chrono::milliseconds within) const {
  const auto limit = Clock::now() + within;
  std::string text;
  while (text.size() <= most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
    pollfd one{descriptor_, POLLIN, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) <= 0) {
      break;
    }
    const auto next = byte();
    if (!next) {
      break;
    }
    if (*next == '\n') {
      return text;
    }
    text += *next;
  }
  return std::nullopt;
}

Arrived arrive(const TcpStream& stream, std::chrono::milliseconds most) {
  std::vector<char> piece(kPiece);
  std::optional<Clock::time_point> first;
  std::optional<Clock::time_point> opened;
  Clock::time_point last;
  std::uint64_t all = 0;
  std::uint64_t since_opened = 0;
  const auto limit = Clock::now() + most;
  while (all < kMostStreamed && Clock::now() < limit) {
    const auto came = ::recv(stream.descriptor(), piece.data(), piece.size(), 0);
    if (came <= 0) {
      break;
    }
    last = Clock::now();
    first = first.value_or(last);
    all += static_cast<std::uint64_t>(came);
    if (opened) {
      since_opened += static_cast<std::uint64_t>(came);
    } else if (last >= *first + kOpening) {
      opened = last;
    }
  }
  if (since_opened > 0) {
    return {since_opened, micros_between(*opened, last)};
  }
  return first ? Arrived{all, micros_between(*first, last)} : Arrived{};
}

void stream_zeros(const TcpStream& stream, std::chrono::milliseconds span) {
  const std::vector<char> piece(kPiece);
  const auto limit = Clock::now() + span;
  std::uint64_t all = 0;
  while (all < kMostStreamed && Clock::now() < limit) {
    const auto sent = ::send(stream.descriptor(), piece.data(), piece.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    all += static_cast<std::uint64_t>(sent);
  }
}

}  // namespace ballast
