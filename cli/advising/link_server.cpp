#include "cli/advising/link_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "cli/advising/link_words.h"
#include "cli/advising/tcp_stream.h"
#include "common/command/usage_error.h"
#include "common/net/random_id.h"

namespace ballast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOpen = 12;  // connections, those of strangers among them
constexpr int kBacklog = 8;
constexpr int kLookMs = 200;

TcpStream listen_on(const std::string& address, HttpAddress& found) {
  try {
    found = resolve_http_address(address);
  } catch (const std::runtime_error& error) {
    throw UsageError("--listen: " + std::string(error.what()));
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* place = nullptr;
  ::getaddrinfo(found.numeric.c_str(), std::to_string(found.port).c_str(), &hints, &place);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> holder(place, &::freeaddrinfo);
  TcpStream listener(place == nullptr ? -1 : ::socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(listener.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (place == nullptr || ::bind(listener.descriptor(), place->ai_addr, place->ai_addrlen) != 0 ||
      ::listen(listener.descriptor(), kBacklog) != 0) {
    throw UsageError("--listen " + address + ": " + std::generic_category().message(errno) +
                     "; name an address of this machine and a port that is free");
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&bound), &size);
  found.port = ntohs(found.ipv6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return listener;
}

}  // namespace

struct LinkServer::Impl {
  struct Open {
    TcpStream stream;
    bool is_over = false;  // under the mutex
    std::thread thread = {};
  };

  explicit Impl(const std::string& address) : listener(listen_on(address, where)), name(where.bindable()) {}
  ~Impl() { end(); }

  // False: this machine has nothing left to take it with, and whoever waits is still there.
  bool accept() {
    const int descriptor = ::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
      return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    }
    TcpStream stream(descriptor);
    if (open.size() >= kMostOpen) {
      return true;
    }
    const std::scoped_lock lock(mutex);
    auto& own = open.emplace_back(Open{std::move(stream)});
    try {
      own.thread = std::thread([this, &own] {
        handle(own.stream);
        const std::scoped_lock ended(mutex);
        own.is_over = true;
        own.stream.close();
      });
    } catch (const std::system_error&) {
      open.pop_back();  // there are no more threads: it is cut
      return false;
    }
    return true;
  }

  void forget_ended() {
    for (auto own = open.begin(); own != open.end();) {
      std::unique_lock lock(mutex);
      const bool is_over = own->is_over;
      lock.unlock();
      if (is_over) {
        own->thread.join();
        own = open.erase(own);
      } else {
        ++own;
      }
    }
  }

  void end() {
    {
      const std::scoped_lock lock(mutex);
      token.clear();
      for (auto& own : open) {
        if (!own.is_over) {
          ::shutdown(own.stream.descriptor(), SHUT_RDWR);
        }
      }
    }
    freed.notify_all();
    for (auto& own : open) {
      own.thread.join();
    }
    open.clear();
  }

  void handle(const TcpStream& stream) {
    const auto said = stream.line(link_words::kMostLine, link_words::kFirstLine);
    if (!said || !said->starts_with(link_words::kGreeting)) {
      return;
    }
    const auto word = said->substr(link_words::kGreeting.size());
    if (word == "hello") {
      return converse(stream);
    }
    const auto space = word.find(' ');
    const auto way = word.substr(0, space);
    const auto own = space == std::string::npos ? "" : word.substr(space + 1);
    if ((way != "up" && way != "down") || !begin_streaming(own)) {
      return;
    }
    stream.drop_unsent();
    if (way == "up") {
      const auto arrived = arrive(stream, link_words::kMostSpan);
      end_streaming(own, "up " + std::to_string(arrived.bytes) + " " + std::to_string(arrived.micros) + "\n");
    } else {
      stream_zeros(stream, link_words::kSpan);
      end_streaming(own, "");
    }
  }

  // Whether it is of this conversation, and one of few: one more than these waits until another one has ended, which
  // its other side may know sooner.
  bool begin_streaming(const std::string& own) {
    std::unique_lock lock(mutex);
    const auto is_over = [&] { return token.empty() || token != own; };
    freed.wait_for(lock, link_words::kFirstLine, [&] { return is_over() || streaming < link_words::kConnections; });
    if (is_over() || streaming >= link_words::kConnections) {
      return false;
    }
    ++streaming;
    return true;
  }

  void end_streaming(const std::string& own, const std::string& report) {
    {
      const std::scoped_lock lock(mutex);
      if (token != own) {
        return;  // the conversation is over
      }
      --streaming;
      if (!control->send_now(report)) {
        ::shutdown(control->descriptor(), SHUT_RDWR);
      }
    }
    freed.notify_all();
  }

  void converse(const TcpStream& stream) {
    {
      const std::scoped_lock lock(mutex);
      if (control != nullptr) {
        stream.send_now("busy\n");
        return;
      }
      control = &stream;
      token = std::to_string(random_id());
      streaming = 0;
      stream.send_now("ok " + token + "\n");
    }
    const auto limit = Clock::now() + link_words::kConversation;
    for (pollfd one{stream.descriptor(), POLLIN, 0}; Clock::now() < limit;) {
      if (::poll(&one, 1, kLookMs) == 0) {
        continue;
      }
      const auto byte = stream.byte();
      if (!byte) {
        break;
      }
      const std::scoped_lock lock(mutex);
      if (!stream.send_now(std::string_view(&*byte, 1))) {
        break;
      }
    }
    {
      const std::scoped_lock lock(mutex);
      control = nullptr;
      token.clear();
    }
    freed.notify_all();
  }

  HttpAddress where;
  TcpStream listener;
  std::string name;
  std::mutex mutex;                    // never held while anything is waited for
  std::condition_variable freed;       // a connection of the conversation has ended, or that has
  const TcpStream* control = nullptr;  // of the conversation
  std::string token;                   // empty: there is none
  std::size_t streaming = 0;           // connections of it
  std::list<Open> open;                // but for `is_over`, of the thread that serves
};

LinkServer::LinkServer(const std::string& address) : impl_(std::make_unique<Impl>(address)) {}
LinkServer::~LinkServer() = default;

const std::string& LinkServer::address() const { return impl_->name; }

void LinkServer::serve(int stop_fd, double seconds) {
  const auto limit = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < limit) {
    pollfd both[] = {{impl_->listener.descriptor(), POLLIN, 0}, {stop_fd, POLLIN, 0}};
    ::poll(both, 2, kLookMs);
    if ((both[1].revents & POLLIN) != 0) {
      break;
    }
    if ((both[0].revents & POLLIN) != 0 && !impl_->accept()) {
      ::poll(&both[1], 1, kLookMs);  // not again at once
    }
    impl_->forget_ended();
  }
  impl_->end();
}

}  // namespace ballast
