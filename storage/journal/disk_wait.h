// For how long a journal's thread has waited for its disk.
#pragma once

#include <algorithm>
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

  // What the call returns. Of it all counts that the thread neither computes nor waits for a processor; once, where it
  // makes others that are measured. `syncs`: those that durability.fsync asks for.
  template <typename Call>
  auto measure(Call&& call, bool syncs) {
    const bool is_outer = begun_ == 0;
    const auto runnable = runnable_->now();  // before the clock is read, and after: what is between is no wait
    const auto begun = now();
    if (is_outer) {
      begun_ = begun;
    }
    auto result = std::forward<Call>(call)();
    const auto took = now() - begun;
    const auto waited = std::max<std::int64_t>(0, took - (runnable_->now() - runnable).count());
    syncing_ += syncs ? waited : 0;
    if (is_outer) {
      waited_ += waited;
      begun_ = 0;
    }
    return result;
  }

  [[nodiscard]] JournalDisk so_far() const {
    const auto begun = begun_.load();
    return {std::chrono::nanoseconds(waited_.load()), std::chrono::nanoseconds(syncing_.load()),
            std::chrono::nanoseconds(begun == 0 ? 0 : std::max<std::int64_t>(0, now() - begun))};
  }

 private:
  // Nanoseconds.
  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  std::optional<RunnableTime> runnable_;
  std::atomic<std::int64_t> waited_ = 0;
  std::atomic<std::int64_t> syncing_ = 0;  // of them
  std::atomic<std::int64_t> begun_ = 0;    // the outermost call that is under way; 0: there is none
};

}  // namespace ballast
