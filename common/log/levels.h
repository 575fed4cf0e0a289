// How much is logged: the levels, and what they are called on command lines and in files. Needs nothing of the log.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ballast {

// The least important lines that are logged.
enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

// In the order of the levels.
inline constexpr std::array<std::string_view, 5> kLogLevelNames = {"debug", "info", "warn", "error", "off"};

}  // namespace ballast
