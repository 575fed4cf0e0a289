#include "common/net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace ballast {

namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";

// HOST of tcp://HOST:PORT without brackets; empty for anything else.
std::string host_of(const std::string& address) {
  const auto port = address.rfind(':');
  if (!address.starts_with(kTcp) || port < kTcp.size()) {
    return {};
  }
  auto host = address.substr(kTcp.size(), port - kTcp.size());
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

// By number, not by prefix: 127.example.com is a name that may lie anywhere.
bool is_loopback(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return ntohl(four.s_addr) >> 24U == 127;
  }
  return host == "localhost" || (::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

bool is_number(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  // A link-local address of IPv6 has its interface behind it.
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &six) == 1;
}

// As it stands before a port.
std::string in_brackets(const std::string& host) {
  return host.find(':') != std::string::npos && host.front() != '[' ? std::string(1, '[').append(host).append("]")
                                                                    : host;
}

bool is_any(const std::string& host) { return host == "0.0.0.0" || host == "::" || host == "*"; }

// What a name resolves to.
class Resolved {
 public:
  explicit Resolved(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    error_ = ::getaddrinfo(name.c_str(), nullptr, &hints, &found_);
  }
  ~Resolved() {
    if (error_ == 0) {
      ::freeaddrinfo(found_);
    }
  }
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;

  // Of getaddrinfo; 0: it resolves.
  [[nodiscard]] int error() const { return error_; }
  // Its numbers, in the order in which they are to be preferred (RFC 6724).
  [[nodiscard]] std::vector<std::string> numbers() const {
    std::vector<std::string> all;
    for (const auto* at = error_ == 0 ? found_ : nullptr; at != nullptr; at = at->ai_next) {
      std::array<char, NI_MAXHOST> number{};
      if (::getnameinfo(at->ai_addr, at->ai_addrlen, number.data(), number.size(), nullptr, 0, NI_NUMERICHOST) == 0 &&
          std::find(all.begin(), all.end(), number.data()) == all.end()) {
        all.emplace_back(number.data());
      }
    }
    return all;
  }

 private:
  int error_ = 0;
  addrinfo* found_ = nullptr;
};

// This machine's name if it resolves, else empty.
std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || Resolved(name.data()).error() != 0) {
    return {};
  }
  return name.data();
}

}  // namespace

bool is_local_address(const std::string& address) { return address.starts_with(kIpc) || is_loopback(host_of(address)); }

bool is_abstract_address(const std::string& address) {
  return address.starts_with(kIpc) && address.substr(kIpc.size()).starts_with('@');
}

std::string lane_address(const std::string& base, std::uint32_t lane) {
  if (base.starts_with(kIpc)) {
    return base + "-l" + std::to_string(lane);
  }
  constexpr std::uint32_t kMostPorts = 65535;
  const auto colon = base.rfind(':');
  const auto text = base.substr(colon + 1);
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return base;
  }
  if (port > kMostPorts || lane > kMostPorts - port) {
    throw std::invalid_argument(base + ": there is no port for lane " + std::to_string(lane) +
                                ": each lane takes the next one, and the last is 65535");
  }
  return base.substr(0, colon + 1) + std::to_string(port + lane);
}

std::string advertised_address(const std::string& bound, const std::string& host) {
  if (!bound.starts_with(kTcp) || bound.rfind(':') < kTcp.size()) {
    return bound;
  }
  const auto bound_host = host_of(bound);
  const auto reached = host.empty() && is_any(bound_host) ? machine_name() : host;
  if (reached.empty()) {
    return bound;
  }
  return std::string(kTcp).append(in_brackets(reached)).append(bound.substr(bound.rfind(':')));
}

std::string reached_from_here(const std::string& bound) {
  const auto host = host_of(bound);
  return is_any(host) ? advertised_address(bound, host == "::" ? "::1" : "127.0.0.1") : bound;
}

bool is_named(const std::string& address) {
  const auto host = host_of(address);
  return !host.empty() && !is_any(host) && !is_number(host);
}

Resolution resolve(const std::string& address) {
  if (!is_named(address)) {
    return {{address}, {}};
  }
  const auto host = host_of(address);
  const Resolved resolved(host);
  if (resolved.error() != 0) {
    return {{}, "the name " + host + " does not resolve here (" + ::gai_strerror(resolved.error()) + ")"};
  }
  Resolution resolution;
  for (const auto& number : resolved.numbers()) {
    resolution.addresses.push_back(std::string(kTcp) + in_brackets(number) + address.substr(address.rfind(':')));
  }
  return resolution;
}

bool resolves_to_loopback(const std::string& address) {
  const auto host = host_of(address);
  const auto numbers = host.empty() ? std::vector<std::string>() : Resolved(host).numbers();
  return !numbers.empty() && std::all_of(numbers.begin(), numbers.end(), is_loopback);
}

bool is_everywhere(const std::string& address) { return is_any(host_of(address)); }

std::string why_ipc_not_bindable(const std::string& address) {
  if (!address.starts_with(kIpc)) {
    return {};
  }
  const auto path = address.substr(kIpc.size());
  sockaddr_un target{};
  target.sun_family = AF_UNIX;
  if (path.size() >= sizeof(target.sun_path)) {
    return "the path has " + std::to_string(path.size()) + " bytes; a unix socket's may have " +
           std::to_string(sizeof(target.sun_path) - 1) + ": choose a shorter folder";
  }
  if (path.empty() || path.front() == '@' || path.front() == '*') {
    return {};  // abstract or chosen by ZeroMQ: the system itself refuses a second one
  }
  std::memcpy(target.sun_path, path.data(), path.size());
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool answered = probe >= 0 && ::connect(probe, reinterpret_cast<sockaddr*>(&target), sizeof(target)) == 0;
  if (probe >= 0) {
    ::close(probe);
  }
  return answered ? "another process listens there; stop it or choose another path" : std::string();
}

}  // namespace ballast
