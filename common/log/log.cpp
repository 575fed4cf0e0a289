#include "common/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "common/log/rotating_file.h"
#include "common/log/throttle.h"

namespace ballast {
namespace {

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

// Of one kind that are written in a window of time. What goes wrong may go wrong a thousand times a second; a thousand
// workers that join are told each.
constexpr std::size_t kBurst = 20;
constexpr std::size_t kInfoBurst = 2000;

// Replaced by start_logging, before other threads log; tests do so again while none does.
struct Log {
  std::shared_ptr<spdlog::logger> logger =
      make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), LogLevel::info);
  std::string who;  // "shard/0 "
  bool is_on_stderr = true;
  std::mutex mutex;
  Throttle throttle;                                         // under the mutex
  std::atomic<Throttle::Time> next = Throttle::Time::max();  // of the throttle

  ~Log();
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

bool is_stderr(const std::string& file) {
  struct stat named {};
  struct stat stream {};
  return ::stat(file.c_str(), &named) == 0 && ::fstat(STDERR_FILENO, &stream) == 0 && named.st_dev == stream.st_dev &&
         named.st_ino == stream.st_ino;
}

spdlog::sink_ptr open_sink(const LogOptions& options) {
  if (options.file.empty()) {
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  try {
    return std::make_shared<RotatingFile>(options.file, options.megabytes * 1'000'000, options.files);
  } catch (const std::system_error& failure) {
    throw std::runtime_error("cannot write the log file " + options.file + ": " + failure.code().message());
  }
}

void write_line(const Log& log, LogLevel level, std::string_view text) {
  const auto name = kLogLevelNames.at(static_cast<std::size_t>(level));
  const auto line = on_one_line(fmt::format("{:<5} {}{}", name, log.who, text));
  log.logger->log(to_spdlog(level), spdlog::string_view_t(line));
}

void tell(const Log& log, const std::vector<HeldLines>& held) {
  for (const auto& lines : held) {
    write_line(
        log, static_cast<LogLevel>(lines.tag),
        fmt::format("{} more lines like this in {} s, the newest: {}", lines.count, lines.over.count(), lines.newest));
  }
}

Log::~Log() { tell(*this, throttle.all()); }

// Whether a line is written, or held back.
bool admit(Log& log, LogLevel level, std::string_view kind, std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  const auto tag = static_cast<std::uint64_t>(level);
  const auto named = fmt::format("{} {}{}", tag, thread_prefix, kind);
  const std::scoped_lock lock(log.mutex);
  const bool admitted = log.throttle.admit(named, level == LogLevel::info ? kInfoBurst : kBurst, tag, text, now);
  log.next = log.throttle.next();
  return admitted;
}

}  // namespace

LogLevel parse_log_level(std::string_view name) {
  for (std::size_t level = 0; level < kLogLevelNames.size(); ++level) {
    if (name == kLogLevelNames[level]) {
      return static_cast<LogLevel>(level);
    }
  }
  throw std::invalid_argument(fmt::format("\"{}\" is not a log level; use debug, info, warn, error or off", name));
}

void start_logging(const LogOptions& options) {
  auto& log = process_log();
  const auto sink = open_sink(options);
  const std::scoped_lock lock(log.mutex);
  tell(log, log.throttle.all());  // where the lines like them are
  log.next = log.throttle.next();
  log.logger = make_logger(sink, options.level);
  log.is_on_stderr = options.file.empty() || is_stderr(options.file);
  log.who = options.index.empty() ? options.role + " " : options.role + "/" + options.index + " ";
}

bool is_logging() { return !process_log().who.empty(); }

bool is_log_on_stderr() { return is_logging() && process_log().is_on_stderr; }

bool log_enabled(LogLevel level) { return process_log().logger->should_log(to_spdlog(level)); }

void log_line(LogLevel level, std::string_view kind, std::string_view message) {
  auto& log = process_log();
  const auto text = fmt::format("{}{}", thread_prefix, message);
  if (level == LogLevel::debug || admit(log, level, kind, text)) {
    write_line(log, level, text);
  }
  tell_held_lines();
}

void tell_held_lines() {
  auto& log = process_log();
  const auto now = std::chrono::steady_clock::now();
  if (now < log.next.load(std::memory_order_relaxed)) {
    return;
  }
  std::vector<HeldLines> held;
  {
    const std::scoped_lock lock(log.mutex);
    held = log.throttle.due(now);
    log.next = log.throttle.next();
  }
  tell(log, held);
}

void set_log_prefix(std::string prefix) { thread_prefix = std::move(prefix); }

}  // namespace ballast
