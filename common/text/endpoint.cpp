#include "common/text/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/text/text.h"

namespace ballast {

namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";
constexpr unsigned kMaxPort = 65535;
constexpr std::size_t kMaxShown = 200;

// What follows the last colon, where something precedes it.
std::optional<std::string_view> port_of(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.find_first_of(" /") != std::string_view::npos) {
    return std::nullopt;
  }
  return text.substr(colon + 1);
}

bool is_in_names(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '-' || letter == '.' || letter == '_';
}

// A computer's or an interface's.
bool is_name(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_in_names); }

// It may name the interface as well: fe80::1%eth0.
bool is_address_6(std::string_view text) {
  const auto end = std::min(text.find('%'), text.size());
  const std::string number(text.substr(0, end));
  in6_addr address{};
  return number.find('\0') == std::string::npos && ::inet_pton(AF_INET6, number.c_str(), &address) == 1 &&
         (end == text.size() || is_name(text.substr(end + 1)));
}

// A name or an address, whether anybody has it or not.
bool is_host(std::string_view text) {
  const bool is_bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
  return is_name(text) || is_address_6(is_bracketed ? text.substr(1, text.size() - 2) : text);
}

std::string_view host_of(std::string_view host_port) { return host_port.substr(0, host_port.rfind(':')); }

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<unsigned> port_number(std::string_view port) {
  unsigned number = 0;
  const auto result = std::from_chars(port.data(), port.data() + port.size(), number);
  return is_number(port) && result.ec == std::errc() && number <= kMaxPort ? std::optional(number) : std::nullopt;
}

std::string quoted(std::string_view text) { return "'" + as_line(text, kMaxShown) + "'"; }

std::string no_address(std::string_view text, std::string_view form) {
  return quoted(text) + " is no address; write " + std::string(form);
}

// `address` is shown, `text` is its HOST:PORT; `form` is how one is written.
std::string port_fault(std::string_view address, std::string_view text, std::string_view form) {
  const auto port = port_of(text);
  if (!port || !is_number(*port)) {
    return no_address(address, form);
  }
  return port_number(*port) ? "" : quoted(address) + " has a port that there is not; ports are numbers from 0 to 65535";
}

std::string fault(std::string_view text, bool may_be_chosen) {
  constexpr std::string_view kForm = "tcp://HOST:PORT, e.g. tcp://10.0.0.5:7070, or ipc://PATH";
  if (text.starts_with(kIpc) && text.size() > kIpc.size()) {
    return {};
  }
  if (!text.starts_with(kTcp)) {
    return no_address(text, kForm);
  }
  const auto host_port = text.substr(kTcp.size());
  const auto port = port_of(host_port);
  if (may_be_chosen && port == "*") {
    return {};
  }
  if (!may_be_chosen && port && (port == "*" || port_number(*port) == 0)) {
    return quoted(text) + " names no port; write the one that is listened on";
  }
  const auto of_port = port_fault(text, host_port, kForm);
  const bool is_wrong = of_port.empty() && !may_be_chosen && !is_host(host_of(host_port));
  return is_wrong ? no_address(text, kForm) : of_port;
}

}  // namespace

bool is_host_port(std::string_view text) {
  const auto port = port_of(text);
  return port && port_number(*port);
}

bool is_endpoint(std::string_view text) {
  const auto host_port = text.starts_with(kTcp) ? text.substr(kTcp.size()) : std::string_view();
  return (is_host_port(host_port) && is_host(host_of(host_port))) ||
         (text.starts_with(kIpc) && text.size() > kIpc.size());
}

std::string endpoint_fault(std::string_view text) { return fault(text, false); }
std::string bind_fault(std::string_view text) { return fault(text, true); }
std::string host_port_fault(std::string_view text) { return port_fault(text, text, "HOST:PORT, e.g. 127.0.0.1:9100"); }

std::string host_fault(std::string_view text) {
  return is_host(text) ? "" : quoted(text) + " is no host; write a name or an address without a port, e.g. 10.0.0.5";
}

}  // namespace ballast
