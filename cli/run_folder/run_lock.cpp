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
#include <string_view>
#include <thread>
#include <utility>

#include "common/text/shell_word.h"

namespace ballast {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLockPatience{3};
constexpr std::chrono::milliseconds kTryEvery{50};

constexpr std::string_view kReshard = "reshard";

// What the holder has left: its process id, and a line on what for if that is no run.
struct Holder {
  std::string pid;
  std::string use;
};

Holder holder(int fd) {
  std::array<char, 48> text{};
  const auto size = pread(fd, text.data(), text.size() - 1, 0);
  const std::string note(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto end = note.find('\n');
  if (end == std::string::npos) {
    return {note, {}};
  }
  const auto use = note.substr(end + 1);
  return {note.substr(0, end), use.substr(0, use.find('\n'))};
}

bool taken_in_time(int fd, int how) {
  const auto until = Clock::now() + kLockPatience;
  while (flock(fd, how | LOCK_NB) != 0) {
    if (Clock::now() >= until) {
      return false;
    }
    std::this_thread::sleep_for(kTryEvery);
  }
  return true;
}

std::string in_use_text(const std::filesystem::path& folder, const Holder& other) {
  const auto process = other.pid.empty() ? "" : " (started by process " + other.pid + ")";
  if (other.use == kReshard) {
    return "`ballast reshard`" + process + " works on the folder " + folder.string() + "; wait for its end";
  }
  return "another run uses the folder " + folder.string() + process + "; stop it with `ballast stop " +
         shell_word(folder.string()) + "`, or choose another folder";
}

void take_lock(int fd, int how, const std::filesystem::path& folder) {
  if (taken_in_time(fd, how)) {
    return;
  }
  const bool is_only_read = flock(fd, LOCK_SH | LOCK_NB) == 0;  // whoever reads leaves no note
  const auto text = is_only_read ? "`ballast reshard -o` reads the folder " + folder.string() + "; wait for its end"
                                 : in_use_text(folder, holder(fd));
  close(fd);
  throw std::runtime_error(text);
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& folder, Use use) {
  const auto file = folder / "lock";
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw std::runtime_error("cannot open " + file.string() + ": " + std::strerror(errno));
  }
  take_lock(fd_, LOCK_EX, folder);
  const auto note = std::to_string(getpid()) + "\n" + (use == Use::reshard ? std::string(kReshard) + "\n" : "");
  // Only for the message above: if it cannot be written, the lock holds all the same.
  [[maybe_unused]] const bool noted = ftruncate(fd_, 0) == 0 && pwrite(fd_, note.data(), note.size(), 0) > 0;
}

RunLock RunLock::to_read(const std::filesystem::path& folder) {
  const auto file = folder / "lock";
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT) {
    throw std::runtime_error("cannot open " + file.string() + ": " + std::strerror(errno));
  }
  if (fd >= 0) {
    take_lock(fd, LOCK_SH, folder);
  }
  return RunLock(fd);
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
