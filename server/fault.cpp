#include "server/fault.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ballast {

namespace {

struct Armed {
  ServerFault point = ServerFault::snapshot_chunk;
  std::string once;  // file; empty: always
};

std::optional<Armed> g_armed;  // set before threads start
std::atomic<long> g_passings_left = 1;

constexpr std::array<std::string_view, 5> kNames = {"snapshot-chunk", "timeline-recorded", "before-serve",
                                                    "before-finished", "record-fetched"};

[[noreturn]] void refuse(std::string_view text) {
  throw std::runtime_error("BALLAST_SERVER_FAULT=" + std::string(text) +
                           ": expected POINT[:COUNT][@once:FILE] with POINT one of snapshot-chunk, timeline-recorded, "
                           "before-serve, before-finished, record-fetched");
}

}  // namespace

void arm_faults() {
  const char* value = std::getenv("BALLAST_SERVER_FAULT");
  if (value == nullptr || *value == '\0') {
    return;
  }
  const std::string_view text = value;
  Armed armed;
  auto point = text;
  if (const auto at = text.find("@once:"); at != std::string_view::npos) {
    armed.once = text.substr(at + 6);
    point = text.substr(0, at);
  }
  if (const auto colon = point.find(':'); colon != std::string_view::npos) {
    const auto digits = point.substr(colon + 1);
    long count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc{} || end != digits.data() + digits.size() || count < 1) {
      refuse(text);
    }
    g_passings_left = count;
    point = point.substr(0, colon);
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == point) {
      armed.point = static_cast<ServerFault>(i);
      g_armed = armed;
      return;
    }
  }
  refuse(text);
}

void strike(ServerFault point) {
  if (!g_armed || g_armed->point != point || --g_passings_left != 0) {
    return;
  }
  if (!g_armed->once.empty()) {
    const int file = ::open(g_armed->once.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0) {
      return;  // somebody has died for it already
    }
    ::close(file);
  }
  std::raise(SIGKILL);
}

}  // namespace ballast
