// For how long a journal's thread has waited for its disk.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/machine/runnable_time.h"
#include "storage/journal/journal.h"

namespace ballast {

// The journal's thread begins, and measures; any thread reads.
class DiskWait {
 public:
  void begin() { runnable_.emplace(); }

  // What it returns. All of the call counts that the thread neither computes nor waits for a processor.
  template <typename Call>
  auto measure(Call&& call, bool syncs) {
    const auto begun = std::chrono::steady_clock::now();
    const auto runnable = runnable_->now();
    auto result = std::forward<Call>(call)();
    const auto waited = (std::chrono::steady_clock::now() - begun) - (runnable_->now() - runnable);
    if (waited.count() > 0) {
      waited_ += static_cast<std::uint64_t>(waited.count());
      syncing_ += syncs ? static_cast<std::uint64_t>(waited.count()) : 0;
    }
    return result;
  }

  [[nodiscard]] JournalDisk so_far() const {
    return {std::chrono::nanoseconds(waited_.load()), std::chrono::nanoseconds(syncing_.load())};
  }

 private:
  std::optional<RunnableTime> runnable_;
  std::atomic<std::uint64_t> waited_ = 0;   // nanoseconds
  std::atomic<std::uint64_t> syncing_ = 0;  // of them in syncs
};

}  // namespace ballast
