#include "bench/raw_stream.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "bench/clock.h"
#include "bench/process_use.h"

namespace ballast::bench {

namespace {

constexpr std::size_t kPiece = 1U << 20U;
constexpr int kSocketBufferBytes = 4 << 20;
constexpr auto kStep = std::chrono::milliseconds(10);

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd_ < 0) {
      throw std::runtime_error(std::string("raw socket: ") + std::strerror(errno));
    }
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

using Pair = std::pair<Descriptor, Descriptor>;

void require(bool good, const char* what) {
  if (!good) {
    throw std::runtime_error(std::string("raw socket: ") + what + ": " + std::strerror(errno));
  }
}

// Before connecting: TCP chooses the scale of its window then.
void enlarge(const Descriptor& socket) {
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof(kSocketBufferBytes));
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof(kSocketBufferBytes));
}

Pair unix_pair() {
  std::array<int, 2> fds{};
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0, "socketpair");
  Pair pair{Descriptor(fds[0]), Descriptor(fds[1])};
  enlarge(pair.first);
  enlarge(pair.second);
  return pair;
}

Pair tcp_pair() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  enlarge(listener);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  require(bind(listener.get(), generic, size) == 0 && listen(listener.get(), 1) == 0, "listen on loopback");
  require(getsockname(listener.get(), generic, &size) == 0, "getsockname");
  Descriptor near(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  enlarge(near);
  require(connect(near.get(), generic, size) == 0, "connect on loopback");
  Descriptor far(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int on = 1;
  setsockopt(near.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(far.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return {std::move(near), std::move(far)};
}

// Cuts an array into pieces, again and again.
class Ring {
 public:
  explicit Ring(std::size_t bytes) : array_(std::max(bytes, kPiece), std::byte{1}) {}
  std::byte* data() { return array_.data() + at_; }
  [[nodiscard]] std::size_t size() const { return std::min(kPiece, array_.size() - at_); }
  void advance(std::size_t bytes) { at_ = (at_ + bytes) % array_.size(); }

 private:
  std::vector<std::byte> array_;
  std::size_t at_ = 0;
};

// Both until the other side is gone.
void send_on(int fd, std::size_t array_bytes, std::uint64_t& count) {
  Ring ring(array_bytes);
  while (true) {
    const auto sent = send(fd, ring.data(), ring.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    ring.advance(static_cast<std::size_t>(sent));
    __atomic_fetch_add(&count, static_cast<std::uint64_t>(sent), __ATOMIC_RELAXED);
  }
}

void receive_on(int fd, std::size_t array_bytes, std::uint64_t& count) {
  Ring ring(array_bytes);
  while (true) {
    const auto received = recv(fd, ring.data(), ring.size(), 0);
    if (received <= 0) {
      return;
    }
    ring.advance(static_cast<std::size_t>(received));
    __atomic_fetch_add(&count, static_cast<std::uint64_t>(received), __ATOMIC_RELAXED);
  }
}

[[noreturn]] void be_the_other_side(int fd, std::size_t array_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::uint64_t unused = 0;
  std::thread sender([&] { send_on(fd, array_bytes, unused); });
  std::uint64_t unused_too = 0;
  receive_on(fd, array_bytes, unused_too);
  sender.join();
  _exit(0);
}

// Both sides do the same, so ours stands for two.
RawRate rate_of(const std::uint64_t& sent, const std::uint64_t& received, std::size_t array_bytes, double seconds) {
  const auto both_ways = [&] {
    return __atomic_load_n(&sent, __ATOMIC_RELAXED) + __atomic_load_n(&received, __ATOMIC_RELAXED);
  };
  while (both_ways() < 4 * array_bytes) {
    std::this_thread::sleep_for(kStep);
  }
  const auto before = both_ways();
  const auto cpu_before = own_cpu_seconds();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double bytes = static_cast<double>(both_ways() - before) / 2;
  return {bytes / seconds_since(begin), 2 * (own_cpu_seconds() - cpu_before) / bytes};
}

}  // namespace

RawRate raw_rate(const std::string& transport, std::size_t array_bytes, double seconds) {
  auto pair = transport == "ipc" ? unix_pair() : tcp_pair();
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    pair.first.close();
    be_the_other_side(pair.second.get(), array_bytes);
  }
  pair.second.close();
  const int fd = pair.first.get();
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::thread sender([&] { send_on(fd, array_bytes, sent); });
  std::thread receiver([&] { receive_on(fd, array_bytes, received); });
  const auto rate = rate_of(sent, received, array_bytes, seconds);
  shutdown(fd, SHUT_RDWR);
  sender.join();
  receiver.join();
  pair.first.close();
  waitpid(child, nullptr, 0);
  return rate;
}

}  // namespace ballast::bench
