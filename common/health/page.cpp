#include "common/health/page.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "common/http/http_address.h"

namespace ballast {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = 64 << 20;  // of a page; more is none of ours

[[noreturn]] void give_up(const std::string& address, const std::string& why) {
  throw std::runtime_error("no metrics page at " + address + ": " + why);
}

// One request, and its answer to the end of the connection.
class Request {
 public:
  Request(std::string address, std::chrono::milliseconds patience)
      : address_(std::move(address)), until_(Clock::now() + patience) {}
  ~Request() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  std::string answer() {
    connect();
    send("GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n");
    std::string got;
    std::array<char, 16384> buffer{};
    for (;;) {
      await(POLLIN);
      const auto size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
      if (size == 0) {
        return got;
      }
      if (size > 0) {
        got.append(buffer.data(), static_cast<std::size_t>(size));
      } else if (errno != EINTR && errno != EAGAIN) {
        fail(errno);
      }
      if (got.size() > kMostBytes) {
        give_up(address_, "the answer does not end");
      }
    }
  }

 private:
  [[noreturn]] void fail(int code) const { give_up(address_, std::generic_category().message(code)); }

  void connect() {
    const auto target = resolve_http_address(address_);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(target.numeric.c_str(), std::to_string(target.port).c_str(), &hints, &found);
        code != 0) {
      give_up(address_, ::gai_strerror(code));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
    descriptor_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor_ < 0) {
      fail(errno);
    }
    if (::connect(descriptor_, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
      fail(errno);
    }
    await(POLLOUT);
    int code = 0;
    socklen_t size = sizeof(code);
    if (::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &code, &size) != 0 || code != 0) {
      fail(code);
    }
  }

  void send(std::string_view text) {
    while (!text.empty()) {
      await(POLLOUT);
      const auto sent = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        text.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EINTR && errno != EAGAIN) {
        fail(errno);
      }
    }
  }

  void await(short event) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - Clock::now());
      pollfd waited{descriptor_, event, 0};
      const int ready = left.count() > 0 ? ::poll(&waited, 1, static_cast<int>(left.count())) : 0;
      if (ready > 0) {
        return;
      }
      if (ready == 0) {
        give_up(address_, "it does not answer");
      }
      if (errno != EINTR) {
        fail(errno);
      }
    }
  }

  std::string address_;
  Clock::time_point until_;
  int descriptor_ = -1;
};

}  // namespace

Series read_series(std::string_view text) {
  Series series;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string_view::npos) {
      continue;
    }
    double value = 0;
    const auto number = line.substr(space + 1);
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (failure == std::errc{} && end == number.data() + number.size()) {
      series.insert_or_assign(std::string(line.substr(0, space)), value);
    }
  }
  return series;
}

std::string fetch_page(const std::string& address, std::chrono::milliseconds patience) {
  const auto answer = Request(address, patience).answer();
  const auto body = answer.find("\r\n\r\n");
  if (body == std::string::npos || !answer.starts_with("HTTP/1.") || answer.substr(8, 5) != " 200 ") {
    give_up(address, "what answers there serves none");
  }
  return answer.substr(body + 4);
}

}  // namespace ballast
