// One log per process: one line per event, to standard error or a file.
//
//   2026-01-31T12:34:56.789Z warn  shard/0 lane 1: message
//
// Lines of one kind (the same pattern, level and prefix) that come again and again are held back after the first ones,
// and told by their number: "312 more lines like this in 10 s, the newest: message". Debug lines are not held back.
// Thread-safe once start_logging has returned; before that, lines go to standard error.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/log/levels.h"

namespace ballast {

inline constexpr std::uint64_t kLogMegabytes = 64;
inline constexpr std::uint32_t kLogFiles = 4;

struct LogOptions {
  std::string role;   // shard, lead, worker, ballast
  std::string index;  // which of its role: a shard's number, a worker's name; may be empty
  std::string file;   // appended to, with the folders above it made; empty = standard error
  LogLevel level = LogLevel::info;
  std::uint64_t megabytes = kLogMegabytes;  // a file that is larger is put aside as FILE.1 and so on; 0 = never
  std::uint32_t files = kLogFiles;          // that are kept, the newest included
};

// Throws std::invalid_argument naming the levels there are.
LogLevel parse_log_level(std::string_view name);

// Once, before other threads log; tests begin anew, and what was held back until then is told before. Throws
// std::runtime_error with the file and the reason if it cannot be written.
void start_logging(const LogOptions& options);

// Whether start_logging has been called.
bool is_logging();
// Whether what is logged is seen on standard error: it goes there, or standard error is the log file.
bool is_log_on_stderr();

bool log_enabled(LogLevel level);

// Tells of lines that were held back some time ago; any line does so as well. Cheap: for every turn of a loop, so that
// the last ones are not left untold.
void tell_held_lines();

// One line of this kind; control characters are shown as \xNN, so that no text from outside can forge a line. A line of
// level info or above is handed to the operating system before the call returns: kill -9 does not lose it.
void log_line(LogLevel level, std::string_view kind, std::string_view message);

// What a lane says before its lines, e.g. "lane 1: "; of the calling thread.
void set_log_prefix(std::string prefix);

template <typename... Arguments>
std::string_view pattern_of(fmt::format_string<Arguments...> format) {
  const fmt::string_view text = format;
  return {text.data(), text.size()};
}

template <typename... Arguments>
void log_debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (log_enabled(LogLevel::debug)) {
    log_line(LogLevel::debug, pattern_of<Arguments...>(format),
             fmt::format(format, std::forward<Arguments>(arguments)...));
  }
}

template <typename... Arguments>
void log_info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (log_enabled(LogLevel::info)) {
    log_line(LogLevel::info, pattern_of<Arguments...>(format),
             fmt::format(format, std::forward<Arguments>(arguments)...));
  }
}

template <typename... Arguments>
void log_warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (log_enabled(LogLevel::warn)) {
    log_line(LogLevel::warn, pattern_of<Arguments...>(format),
             fmt::format(format, std::forward<Arguments>(arguments)...));
  }
}

template <typename... Arguments>
void log_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  log_line(LogLevel::error, pattern_of<Arguments...>(format),
           fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace ballast
