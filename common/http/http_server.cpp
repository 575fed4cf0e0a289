#include "common/http/http_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ballast {
namespace {

constexpr int kBacklog = 64;
// How long nobody is let in where the system has no descriptor left.
constexpr std::chrono::milliseconds kWithoutDescriptors{500};

[[noreturn]] void refuse(const std::string& what, const HttpAddress& address, int code) {
  throw std::runtime_error("cannot serve " + what + " at " + address.bindable() + ": " + why_not_listening(code));
}

// The socket address of a numeric one.
socklen_t fill(const HttpAddress& address, sockaddr_storage& storage) {
  if (address.ipv6) {
    sockaddr_in6 filled{};
    filled.sin6_family = AF_INET6;
    filled.sin6_port = htons(address.port);
    ::inet_pton(AF_INET6, address.numeric.c_str(), &filled.sin6_addr);
    std::memcpy(&storage, &filled, sizeof(filled));
    return sizeof(filled);
  }
  sockaddr_in filled{};
  filled.sin_family = AF_INET;
  filled.sin_port = htons(address.port);
  ::inet_pton(AF_INET, address.numeric.c_str(), &filled.sin_addr);
  std::memcpy(&storage, &filled, sizeof(filled));
  return sizeof(filled);
}

std::uint16_t port_of(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0) {
    return 0;
  }
  return static_cast<std::uint16_t>(std::stoul(port.data()));
}

bool is_number(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

}  // namespace

HttpServer::HttpServer(const std::string& what, const std::string& address, Handler handler)
    : address_(resolve_http_address(address)), handler_(std::move(handler)) {
  sockaddr_storage storage{};
  const auto size = fill(address_, storage);
  listener_ = ::socket(address_.ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) {
    refuse(what, address_, errno);
  }
  const int reuse = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&storage), size) != 0 || ::listen(listener_, kBacklog) != 0) {
    const int code = errno;
    ::close(listener_);
    refuse(what, address_, code);
  }
  address_.port = port_of(listener_);
  thread_ = std::jthread([this](const std::stop_token& ended) { serve(ended); });
}

HttpServer::~HttpServer() {
  thread_.request_stop();
  wake();
  thread_.join();
  ::close(listener_);
}

int HttpServer::until_the_next(Clock::time_point now) const {
  auto next = Clock::time_point::max();
  const bool is_full = !accepts(now);
  for (const auto& connection : connections_) {
    next = std::min(next, connection.until());
    if (is_full && connection.judged_from() > now) {
      next = std::min(next, connection.judged_from());
    }
  }
  if (accepts_from_ > now) {
    next = std::min(next, accepts_from_);
  }
  if (next == Clock::time_point::max()) {
    return -1;
  }
  return static_cast<int>(std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count(), 0));
}

bool HttpServer::accepts(Clock::time_point now) const {
  return now >= accepts_from_ && (connections_.size() < kConnections ||
                                  std::ranges::any_of(connections_, [now](const HttpConnection& connection) {
                                    return connection.stands_still_since(now).has_value();
                                  }));
}

void HttpServer::serve(const std::stop_token& ended) {
  ::pthread_setname_np(::pthread_self(), "http");  // what it costs shows in /proc
  std::vector<pollfd> watched;
  while (!ended.stop_requested()) {
    const auto now = Clock::now();
    watched = {{wakeup_.fd(), POLLIN, 0}, {accepts(now) ? listener_ : -1, POLLIN, 0}};
    for (const auto& connection : connections_) {
      watched.push_back({connection.descriptor(), connection.events(), 0});
    }
    if (::poll(watched.data(), watched.size(), until_the_next(now)) < 0) {
      continue;  // a signal
    }
    if (watched[0].revents != 0) {
      wakeup_.clear();
    }
    const auto then = Clock::now();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (watched[i + 2].revents != 0) {
        connections_[i].go_on(then);
      }
    }
    tend(then);
    if (watched[1].revents != 0) {
      accept(then);
    }
  }
}

// Who waits is answered if it can be, who is late is told so, and who is over is closed.
void HttpServer::tend(Clock::time_point now) {
  for (auto& connection : connections_) {
    if (connection.state() == HttpConnection::State::waits) {
      if (const auto answer = answer_to(connection.request())) {
        connection.answer(*answer, now);
      }
    }
    if (now >= connection.until()) {
      connection.be_late(now);
    }
  }
  std::erase_if(connections_,
                [](const HttpConnection& connection) { return connection.state() == HttpConnection::State::is_over; });
}

std::optional<HttpAnswer> HttpServer::answer_to(const HttpRequest& request) const {
  const auto& host = request.host;
  if (!host.empty() && host != "localhost" && host != address_.host && !is_number(host)) {
    return http_text(421,
                     "this page is not known by that name: ask for it by its number, or by the name that it was told");
  }
  try {
    return handler_(request);
  } catch (const std::exception&) {  // who looks must not end what is looked at
    return http_text(503, "no answer could be put together; ask again");
  }
}

void HttpServer::make_room(Clock::time_point now) {
  if (connections_.size() < kConnections) {
    return;
  }
  const auto stillest = std::ranges::min_element(connections_, {}, [now](const HttpConnection& connection) {
    return connection.stands_still_since(now).value_or(Clock::time_point::max());
  });
  connections_.erase(stillest);
}

void HttpServer::accept(Clock::time_point now) {
  if (!accepts(now)) {
    return;
  }
  const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      accepts_from_ = now + kWithoutDescriptors;
    }
    return;
  }
  make_room(now);
  connections_.emplace_back(descriptor, now);
}

}  // namespace ballast
