#include "common/log/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace ballast {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warn", "error", "off"};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

std::shared_ptr<spdlog::logger> make_logger(const spdlog::sink_ptr& sink, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("ballast", sink);
  logger->set_level(to_spdlog(level));
  logger->flush_on(spdlog::level::info);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
  return logger;
}

// Replaced once, by start_logging, before other threads log.
struct Log {
  std::shared_ptr<spdlog::logger> logger =
      make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), LogLevel::info);
  std::string who;  // "shard/0 "
};

Log& process_log() {
  static Log instance;
  return instance;
}

thread_local std::string thread_prefix;  // NOLINT: a line's prefix is a property of its thread

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }

std::string on_one_line(std::string_view message) {
  std::string line;
  line.reserve(message.size());
  for (const char byte : message) {
    if (is_control(byte)) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      line.push_back(byte);
    }
  }
  return line;
}

spdlog::sink_ptr open_sink(const std::string& file) {
  if (file.empty()) {
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  try {
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);  // appends, and makes folders
  } catch (const spdlog::spdlog_ex& failure) {
    throw std::runtime_error("cannot write the log file " + file + ": " + failure.what());
  }
}

}  // namespace

LogLevel parse_log_level(std::string_view name) {
  for (std::size_t level = 0; level < kLevelNames.size(); ++level) {
    if (name == kLevelNames[level]) {
      return static_cast<LogLevel>(level);
    }
  }
  throw std::invalid_argument(fmt::format("\"{}\" is not a log level; use debug, info, warn, error or off", name));
}

void start_logging(const LogOptions& options) {
  process_log().logger = make_logger(open_sink(options.file), options.level);
  process_log().who = options.index.empty() ? options.role + " " : options.role + "/" + options.index + " ";
}

bool is_logging() { return !process_log().who.empty(); }

bool log_enabled(LogLevel level) { return process_log().logger->should_log(to_spdlog(level)); }

void log_line(LogLevel level, std::string_view message) {
  const auto& log = process_log();
  const auto name = kLevelNames.at(static_cast<std::size_t>(level));
  const auto line = on_one_line(fmt::format("{:<5} {}{}{}", name, log.who, thread_prefix, message));
  log.logger->log(to_spdlog(level), spdlog::string_view_t(line));
}

void fatal_line(std::string_view message) {
  log_line(LogLevel::error, message);
  process_log().logger->flush();
  std::_Exit(EXIT_FAILURE);
}

void set_log_prefix(std::string prefix) { thread_prefix = std::move(prefix); }

}  // namespace ballast
