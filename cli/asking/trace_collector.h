// Asks the lead, and through it everybody, for what they have measured.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "cli/asking/status_client.h"
#include "common/net/socket.h"
#include "insight/job_trace.h"

namespace ballast {

// One thread. Asks one process after the other, part by part, so that nobody has more than one part of it in memory.
class TraceCollector {
 public:
  TraceCollector(const std::string& lead, std::unique_ptr<ClientKeys> keys);

  // Of the steps from `steps` before the one that is open now on. Nothing: the lead does not answer, or knows no such
  // question; why() says which. Who does not answer has no records, and is named in the trace (`silent`). Of more
  // than kMost records the rest is left out, and those who have it are among them.
  std::optional<insight::JobTrace> collect(Step steps);
  // The same for as long as `all` says, and not of those that have such a name.
  std::optional<insight::JobTrace> collect_soon(Step steps, const std::vector<std::string>& without,
                                                std::chrono::milliseconds all);

  struct Silent {
    std::vector<std::string> names;
    std::size_t unasked = 0;
  };
  // Who answers nothing that the lead passes on, of those for whom there is time: workers and lanes.
  Silent ask_who_is_silent(std::chrono::milliseconds all);

  // Nothing: the lead does not answer; why() says why.
  std::optional<Status> ask_status();

  // Whether the job was at its end when collect() asked.
  [[nodiscard]] bool is_over() const { return is_over_; }

  [[nodiscard]] std::string why() const;

  static constexpr std::size_t kMost = std::size_t{1} << 24U;  // 1 GiB

 private:
  using Clock = std::chrono::steady_clock;

  // Asks again until there is an answer to take, or for as long as `patience` says.
  template <typename Ask, typename Take>
  auto answer(std::chrono::milliseconds patience, const Ask& ask, const Take& take) -> decltype(take());
  using AskOne = std::function<std::optional<TracePart>(const Status& status, const TraceAsked& asked)>;
  std::optional<insight::JobTrace> collect(Step steps, const AskOne& ask_one);
  std::optional<TracePart> ask(TraceAsked asked, std::chrono::milliseconds patience);

  std::string lead_;
  zmq::context_t context_{1};
  StatusClient client_;
  Poll poll_;
  std::uint64_t number_ = 0;
  bool is_over_ = false;
};

}  // namespace ballast
