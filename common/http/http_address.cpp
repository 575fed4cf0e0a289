#include "common/http/http_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace ballast {
namespace {

[[noreturn]] void refuse(const std::string& address, const std::string& why) {
  throw std::runtime_error("address \"" + address + "\": " + why);
}

std::uint16_t parse_port(const std::string& address, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) {
    refuse(address, "write HOST:PORT with a port from 0 to 65535, e.g. 127.0.0.1:9090");
  }
  return port;
}

using Resolved = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Resolved look_up(const std::string& host, std::uint16_t port, int flags, std::string* failure) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    *failure = code == EAI_SYSTEM ? std::generic_category().message(errno) : ::gai_strerror(code);
    found = nullptr;
  }
  return {found, &::freeaddrinfo};
}

}  // namespace

std::string HttpAddress::bindable() const {
  const auto text = std::to_string(port);
  return ipv6 ? "[" + numeric + "]:" + text : numeric + ":" + text;
}

HttpAddress resolve_http_address(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) {
    refuse(address, "write HOST:PORT, e.g. 127.0.0.1:9090");
  }
  HttpAddress result;
  result.host = address.substr(0, colon);
  result.port = parse_port(address, std::string_view(address).substr(colon + 1));
  if (result.host.size() >= 2 && result.host.front() == '[' && result.host.back() == ']') {
    result.host = result.host.substr(1, result.host.size() - 2);
  } else if (result.host.find(':') != std::string::npos) {
    refuse(address, "write an IPv6 address in brackets, e.g. [::1]:9090");
  }
  if (result.host.empty() || result.host == "*") {
    result.host = "0.0.0.0";
  }
  std::string failure;
  const auto found = look_up(result.host, result.port, 0, &failure);
  std::array<char, NI_MAXHOST> numeric{};
  if (!found || ::getnameinfo(found->ai_addr, found->ai_addrlen, numeric.data(), numeric.size(), nullptr, 0,
                              NI_NUMERICHOST) != 0) {
    refuse(address, "the host cannot be resolved: " + failure);
  }
  result.numeric = numeric.data();
  result.ipv6 = found->ai_family == AF_INET6;
  return result;
}

std::string why_not_listening(int code) {
  return code == EADDRINUSE ? "another process listens there; choose another port, or 0 for a free one"
                            : std::generic_category().message(code);
}

std::string why_not_bindable(const HttpAddress& address) {
  std::string failure;
  const auto found = look_up(address.numeric, address.port, AI_NUMERICHOST, &failure);
  if (!found) {
    return failure;
  }
  const int descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return std::generic_category().message(errno);
  }
  const int reuse = 1;  // as the server itself does: closed connections that linger are no hindrance
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  const bool bound = ::bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 && ::listen(descriptor, 1) == 0;
  const int code = errno;
  ::close(descriptor);
  if (bound) {
    return {};
  }
  return why_not_listening(code);
}

void touch(const HttpAddress& address) {
  std::string ignored;
  const auto found = look_up(address.numeric, address.port, AI_NUMERICHOST, &ignored);
  const int descriptor = found ? ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
  if (descriptor >= 0) {
    [[maybe_unused]] const int outcome = ::connect(descriptor, found->ai_addr, found->ai_addrlen);
    ::close(descriptor);
  }
}

}  // namespace ballast
