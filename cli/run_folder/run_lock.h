// Whose a run's folder is, while processes of a run live.
#pragma once

#include <filesystem>

namespace ballast {

// An exclusive lock (flock) on a file in the folder. The run's processes inherit it, so that a folder is free only when
// the last of them is gone, however the command itself ended.
class RunLock {
 public:
  // For what the folder is locked, as messages to others tell it.
  enum class Use : bool { run, reshard };

  // Waits a few seconds for processes that are just being killed. Throws std::runtime_error naming the folder, the
  // holder's process id and what to do, if somebody else has it.
  explicit RunLock(const std::filesystem::path& folder, Use use = Use::run);
  // For whoever only reads: changes nothing in the folder, and goes together with others that read. Nobody runs it, or
  // changes it, meanwhile. Throws as above.
  static RunLock to_read(const std::filesystem::path& folder);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  [[nodiscard]] int fd() const { return fd_; }  // -1: to_read() found no lock, as no run ever had the folder

 private:
  explicit RunLock(int fd) : fd_(fd) {}

  int fd_;
};

// Whether processes of a `ballast run` in the folder live. None do where there is no lock, though servers that were
// started by hand may; true also where that cannot be told: it may not be opened.
bool has_living_run(const std::filesystem::path& folder);

}  // namespace ballast
