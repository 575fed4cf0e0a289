#include "cli/run_folder/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "common/text/shell_word.h"

namespace ballast {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLockPatience{3};
constexpr std::chrono::milliseconds kTryEvery{50};

std::string holder(int fd) {
  std::array<char, 32> text{};
  const auto size = pread(fd, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return pid.substr(0, pid.find('\n'));
}

bool taken_in_time(int fd) {
  const auto until = Clock::now() + kLockPatience;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (Clock::now() >= until) {
      return false;
    }
    std::this_thread::sleep_for(kTryEvery);
  }
  return true;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& folder) {
  const auto file = folder / "lock";
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw std::runtime_error("cannot open " + file.string() + ": " + std::strerror(errno));
  }
  if (!taken_in_time(fd_)) {
    const auto pid = holder(fd_);
    close(fd_);
    throw std::runtime_error(
        "another run uses the folder " + folder.string() + (pid.empty() ? "" : " (started by process " + pid + ")") +
        "; stop it with `ballast stop " + shell_word(folder.string()) + "`, or choose another folder");
  }
  const auto pid = std::to_string(getpid()) + "\n";
  // Only for the message above: if it cannot be written, the lock holds all the same.
  [[maybe_unused]] const bool noted = ftruncate(fd_, 0) == 0 && pwrite(fd_, pid.data(), pid.size(), 0) > 0;
}

RunLock::~RunLock() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

RunLock::RunLock(RunLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool has_living_run(const std::filesystem::path& folder) {
  const int fd = open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno != ENOENT;
  }
  const bool free = flock(fd, LOCK_SH | LOCK_NB) == 0;
  close(fd);
  return !free;
}

}  // namespace ballast
