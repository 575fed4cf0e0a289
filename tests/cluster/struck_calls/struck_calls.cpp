// Loaded before the system's library (LD_PRELOAD): strikes a program at one of the calls by which it changes files.
//
//   BALLAST_STRIKE=count:FILE   each call is a line of FILE: its name, and the paths where it names any
//   BALLAST_STRIKE=kill:N       the process is killed (SIGKILL) before the Nth call, counted from 0
//   BALLAST_STRIKE=full:N       from the Nth call on the disk is full, for everything that would take room
//
// Calls on standard output and standard error do not count.
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Mode : unsigned char { none, count, kill, full };

struct Strike {
  Mode mode = Mode::none;
  long at = 0;
  int log = -1;
};

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

Strike read_strike() {
  const char* text = std::getenv("BALLAST_STRIKE");
  const std::string wanted = text == nullptr ? "" : text;
  const auto value = wanted.substr(wanted.find(':') + 1);
  if (wanted.starts_with("count:")) {
    using Open = int(const char*, int, ...);
    return {Mode::count, 0, next<Open>("open")(value.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644)};
  }
  if (wanted.starts_with("kill:")) {
    return {Mode::kill, std::atol(value.c_str())};
  }
  return wanted.starts_with("full:") ? Strike{Mode::full, std::atol(value.c_str())} : Strike{};
}

// Whether the disk is full for this call.
bool is_struck(const char* name, const char* path, const char* other, bool takes_room) {
  static const Strike strike = read_strike();
  static std::atomic<long> calls{0};
  if (strike.mode == Mode::none) {
    return false;
  }
  const long call = calls++;
  if (strike.mode == Mode::count) {
    const auto line = std::string(name) + " " + path + " " + other + "\n";
    using Write = ssize_t(int, const void*, size_t);
    static_cast<void>(next<Write>("write")(strike.log, line.data(), line.size()));
  }
  if (strike.mode == Mode::kill && call == strike.at) {
    kill(getpid(), SIGKILL);
  }
  errno = ENOSPC;
  return strike.mode == Mode::full && takes_room && call >= strike.at;
}

bool is_told(int descriptor) { return descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO; }

bool makes(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }

}  // namespace

// NOLINTBEGIN: the system's own names and types
#define STRUCK(result, name, parameters, arguments, path, other, takes_room) \
  extern "C" result name parameters {                                        \
    if (is_struck(#name, path, other, takes_room)) {                         \
      return -1;                                                             \
    }                                                                        \
    return next<result parameters>(#name) arguments;                         \
  }
#define STRUCK_WRITE(result, name, parameters, arguments) \
  extern "C" result name parameters {                     \
    if (!is_told(fd) && is_struck(#name, "", "", true)) { \
      return -1;                                          \
    }                                                     \
    return next<result parameters>(#name) arguments;      \
  }
#define STRUCK_OPEN(name)                                              \
  extern "C" int name(const char* path, int flags, ...) {              \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    const mode_t mode = makes(flags) ? va_arg(rest, mode_t) : 0;       \
    va_end(rest);                                                      \
    if (makes(flags) && is_struck(#name, path, "", true)) {            \
      return -1;                                                       \
    }                                                                  \
    return next<int(const char*, int, ...)>(#name)(path, flags, mode); \
  }
#define STRUCK_OPENAT(name)                                                         \
  extern "C" int name(int folder, const char* path, int flags, ...) {               \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = makes(flags) ? va_arg(rest, mode_t) : 0;                    \
    va_end(rest);                                                                   \
    if (makes(flags) && is_struck(#name, path, "", true)) {                         \
      return -1;                                                                    \
    }                                                                               \
    return next<int(int, const char*, int, ...)>(#name)(folder, path, flags, mode); \
  }

STRUCK_OPEN(open)
STRUCK_OPEN(open64)
STRUCK_OPENAT(openat)
STRUCK_OPENAT(openat64)
STRUCK_WRITE(ssize_t, write, (int fd, const void* bytes, size_t count), (fd, bytes, count))
STRUCK_WRITE(ssize_t, pwrite, (int fd, const void* bytes, size_t count, off_t at), (fd, bytes, count, at))
STRUCK_WRITE(ssize_t, pwrite64, (int fd, const void* bytes, size_t count, off64_t at), (fd, bytes, count, at))
STRUCK_WRITE(ssize_t, writev, (int fd, const iovec* parts, int count), (fd, parts, count))
STRUCK_WRITE(ssize_t, pwritev, (int fd, const iovec* parts, int count, off_t at), (fd, parts, count, at))
STRUCK_WRITE(ssize_t, pwritev64, (int fd, const iovec* parts, int count, off64_t at), (fd, parts, count, at))
STRUCK(int, ftruncate, (int fd, off_t size), (fd, size), "", "", false)
STRUCK(int, ftruncate64, (int fd, off64_t size), (fd, size), "", "", false)
STRUCK(int, fsync, (int fd), (fd), "", "", false)
STRUCK(int, fdatasync, (int fd), (fd), "", "", false)
STRUCK(int, syncfs, (int fd) noexcept, (fd), "", "", false)
STRUCK(int, rename, (const char* from, const char* to) noexcept, (from, to), from, to, false)
STRUCK(int, renameat, (int at, const char* from, int into, const char* to) noexcept, (at, from, into, to), from, to,
       false)
STRUCK(int, link, (const char* from, const char* to) noexcept, (from, to), from, to, true)
STRUCK(int, unlink, (const char* path) noexcept, (path), path, "", false)
STRUCK(int, unlinkat, (int at, const char* path, int flags) noexcept, (at, path, flags), path, "", false)
STRUCK(int, rmdir, (const char* path) noexcept, (path), path, "", false)
STRUCK(int, remove, (const char* path) noexcept, (path), path, "", false)
STRUCK(int, mkdir, (const char* path, mode_t mode) noexcept, (path, mode), path, "", true)
STRUCK(int, mkdirat, (int at, const char* path, mode_t mode) noexcept, (at, path, mode), path, "", true)
// NOLINTEND
