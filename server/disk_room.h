// Patience with a full disk: the one place where what it refused is tried again until there is room. And an eye on a
// disk that neither does nor refuses.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/files/status.h"
#include "common/metrics/series.h"

namespace ballast {

// Thread-safe: several may wait at once, each on its own thread. Outlives them.
class DiskRoom {
 public:
  using Attempt = std::function<StoreStatus()>;
  using Clock = std::chrono::steady_clock;

  // That a small write may take before it is told as trouble, and much at once.
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::chrono::seconds kPatienceWithMuch{60};

  // `metrics` may be null.
  explicit DiskRoom(Metrics* metrics) : series_(metrics) {}

  // Something is asked of the disk until the watch goes. It must not outlive the room.
  class Watch {
   public:
    Watch(DiskRoom& room, const char* what, std::chrono::seconds patience = kPatience);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    friend class DiskRoom;
    DiskRoom& room_;
    const char* what_;  // "a write of the ledger"
    std::chrono::seconds patience_;
    Clock::time_point since_;
    std::list<const Watch*>::iterator place_;
  };
  // For how long the oldest of them has been asked for.
  [[nodiscard]] std::chrono::duration<double> oldest() const;
  // What is to be told of something that has not come back from the disk for so long; empty while that is no trouble.
  [[nodiscard]] static std::string told_of(std::string_view what, std::chrono::duration<double> taken,
                                           std::chrono::seconds patience = kPatience);
  // A few times a second. `others`: that something else of this disk takes.
  void update_metrics(std::chrono::duration<double> others) const;

  // What `attempt` comes to, which is tried again and again while it fails for want of space, or because somebody
  // reads a database that must be opened again. The log tells once that it waits, and once that it is over. Ends with
  // the refusal after close(), and when `wanted` holds no longer.
  StoreStatus await(
      const Attempt& attempt, const std::function<bool()>& wanted = [] { return true; });
  // The same of what reads: a StoreResult, of the last attempt.
  template <typename Read>
  std::invoke_result_t<Read> read(
      const Read& attempt, const std::function<bool()>& wanted = [] { return true; }) {
    std::optional<std::invoke_result_t<Read>> result;
    (void)await(
        [&] {
          result.emplace(attempt());
          return result->ok() ? StoreStatus{} : result->status();
        },
        wanted);
    return std::move(*result);
  }
  // Why somebody waits now, or what the disk does not come back from; empty: nobody does, and nothing.
  [[nodiscard]] std::string trouble() const;
  // Nobody waits any more, now or later.
  void close();

 private:
  using Refusals = std::list<std::string>;
  Refusals::iterator begin_waiting(const StoreStatus& refused);
  void end_waiting(Refusals::iterator refusal, StoreCode refused, const StoreStatus& status);

  DiskSeries series_;
  mutable std::mutex mutex_;
  std::list<const Watch*> watches_;  // the oldest first
  std::condition_variable closing_;
  Refusals refusals_;  // of those who wait, in the order in which they began
  bool closed_ = false;
};

}  // namespace ballast
