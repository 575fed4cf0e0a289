// What `ballast analyze` says, and one step's waterfall, for all who look at the page.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "insight/analysis.h"
#include "insight/collection.h"
#include "server/page/lead_line.h"

namespace ballast {

// Its end waits for the window that is looked at. One thread, of the lowest priority, which sleeps until somebody asks.
// Thread-safe.
class PageAnalyst {
 public:
  // From the end of one until the next may begin.
  static constexpr std::chrono::seconds kApart{10};
  // Records of one: with more it looks at fewer steps, six at least.
  static constexpr std::size_t kRecords = std::size_t{1} << 18U;  // 16 MiB
  // Contributions of a window that is replayed: a few seconds' work. Of a larger one it says who is slow, not what that
  // costs.
  static constexpr std::size_t kMessages = 50'000;
  // All processes together; who is asked later has no records.
  static constexpr std::chrono::seconds kPatience{40};

  // `zero`: what moments count from.
  PageAnalyst(LeadLine& line, Micros zero);
  ~PageAnalyst();
  PageAnalyst(const PageAnalyst&) = delete;
  PageAnalyst& operator=(const PageAnalyst&) = delete;

  // Begins an analysis, unless one is made now or the last one has just ended.
  void ask();

  struct Answer {
    bool is_asking = false;
    std::shared_ptr<const std::string> result;  // one JSON object; null: there is none yet
  };
  [[nodiscard]] Answer newest() const;

 private:
  using Clock = std::chrono::steady_clock;

  void work(const std::stop_token& ended);
  [[nodiscard]] std::string analyze(const std::stop_token& ended);
  [[nodiscard]] std::optional<insight::Collected> collect(Clock::time_point until, std::string& why);
  [[nodiscard]] std::string told(const insight::Collected& collected, double asked_at, const std::stop_token& ended);

  LeadLine& line_;
  const Micros zero_;
  insight::Analyst analyst_;
  mutable std::mutex mutex_;
  std::condition_variable_any asked_;
  bool is_asked_ = false;
  Clock::time_point free_from_{};
  std::shared_ptr<const std::string> result_;
  std::jthread thread_;
};

}  // namespace ballast
