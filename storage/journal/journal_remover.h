// Removes segments that are no longer needed, one after the other, on a thread of its own.
#pragma once

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "storage/journal/journal_files.h"

namespace ballast {

// The oldest goes first, and durably, before the next: a power cut never leaves a gap between two segments. What cannot
// be removed is tried again. Ends when destroyed, after one try of what is left.
class JournalRemover {
 public:
  JournalRemover(JournalFiles& files, std::filesystem::path folder, std::chrono::milliseconds retry)
      : files_(files), folder_(std::move(folder)), retry_(retry), thread_([this] { work(); }) {}
  ~JournalRemover() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  JournalRemover(const JournalRemover&) = delete;
  JournalRemover& operator=(const JournalRemover&) = delete;

  // In the order in which they may go.
  void add(const std::vector<std::filesystem::path>& paths) {
    {
      const std::scoped_lock lock(mutex_);
      paths_.insert(paths_.end(), paths.begin(), paths.end());
    }
    changed_.notify_all();
  }

  // Nothing is removed while this is held.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(removing_); }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !paths_.empty(); });
      if (paths_.empty()) {
        return;
      }
      const auto path = paths_.front();
      lock.unlock();
      const bool removed = remove(path);
      lock.lock();
      if (removed) {
        paths_.pop_front();
      } else if (ending_) {
        return;
      } else {
        changed_.wait_for(lock, retry_, [this] { return ending_; });
      }
    }
  }

  bool remove(const std::filesystem::path& path) {
    const auto held = hold();
    const auto error = files_.remove(path);
    return (error == 0 || error == ENOENT) && files_.sync_folder(folder_) == 0;
  }

  JournalFiles& files_;
  std::filesystem::path folder_;
  std::chrono::milliseconds retry_;
  std::mutex removing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::filesystem::path> paths_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace ballast
