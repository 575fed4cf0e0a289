// Patience with a full disk: the one place where what it refused is tried again until there is room.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "common/metrics/series.h"
#include "common/store/status.h"

namespace ballast {

// Thread-safe: several may wait at once, each on its own thread. Outlives them.
class DiskRoom {
 public:
  using Attempt = std::function<StoreStatus()>;

  // `metrics` may be null.
  explicit DiskRoom(Metrics* metrics) : series_(metrics) {}

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
  // Why somebody waits now; empty: nobody does.
  [[nodiscard]] std::string trouble() const;
  // Nobody waits any more, now or later.
  void close();

 private:
  using Refusals = std::list<std::string>;
  Refusals::iterator begin_waiting(const StoreStatus& refused);
  void end_waiting(Refusals::iterator refusal, StoreCode refused, const StoreStatus& status);

  DiskSeries series_;
  mutable std::mutex mutex_;
  std::condition_variable closing_;
  Refusals refusals_;  // of those who wait, in the order in which they began
  bool closed_ = false;
};

}  // namespace ballast
