#include "common/text/endpoint.h"

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

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<unsigned> port_number(std::string_view port) {
  unsigned number = 0;
  const auto result = std::from_chars(port.data(), port.data() + port.size(), number);
  return is_number(port) && result.ec == std::errc() && number <= kMaxPort ? std::optional(number) : std::nullopt;
}

std::string quoted(std::string_view text) { return "'" + as_line(text, kMaxShown) + "'"; }

// `address` is shown, `text` is its HOST:PORT; `form` is how one is written.
std::string port_fault(std::string_view address, std::string_view text, std::string_view form) {
  const auto port = port_of(text);
  if (!port || !is_number(*port)) {
    return quoted(address) + " is no address; write " + std::string(form);
  }
  return port_number(*port) ? "" : quoted(address) + " has a port that there is not; ports are numbers from 0 to 65535";
}

std::string fault(std::string_view text, bool may_be_chosen) {
  constexpr std::string_view kForm = "tcp://HOST:PORT, e.g. tcp://10.0.0.5:7070, or ipc://PATH";
  if (text.starts_with(kIpc) && text.size() > kIpc.size()) {
    return {};
  }
  if (!text.starts_with(kTcp)) {
    return quoted(text) + " is no address; write " + std::string(kForm);
  }
  const auto host_port = text.substr(kTcp.size());
  const auto port = port_of(host_port);
  if (may_be_chosen && port == "*") {
    return {};
  }
  if (!may_be_chosen && port && (port == "*" || port_number(*port) == 0)) {
    return quoted(text) + " names no port; write the one that is listened on";
  }
  return port_fault(text, host_port, kForm);
}

}  // namespace

bool is_host_port(std::string_view text) {
  const auto port = port_of(text);
  return port && port_number(*port);
}

bool is_endpoint(std::string_view text) {
  return (text.starts_with(kTcp) && is_host_port(text.substr(kTcp.size()))) ||
         (text.starts_with(kIpc) && text.size() > kIpc.size());
}

std::string endpoint_fault(std::string_view text) { return fault(text, false); }
std::string bind_fault(std::string_view text) { return fault(text, true); }
std::string host_port_fault(std::string_view text) { return port_fault(text, text, "HOST:PORT, e.g. 127.0.0.1:9100"); }

}  // namespace ballast
