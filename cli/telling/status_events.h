// What of a job's course is told to programs, derived from the statuses that come in. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"

namespace ballast {

struct JobEvent {
  std::string name;  // phase, snapshot, progress
  nlohmann::ordered_json fields;
};

class StatusEvents {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kProgressEvery{1};

  // A new phase, a new complete snapshot, and how it stands: at most once a second, and at the job's end.
  std::vector<JobEvent> observe(const Status& status, std::optional<double> examples_per_second, Moment now);

 private:
  std::optional<JobPhase> phase_;
  std::optional<Step> snapshot_;
  std::optional<Moment> progress_at_;
};

// Of a whole epoch that has been evaluated.
JobEvent epoch_event(const Status& status, std::optional<double> examples_per_second);

}  // namespace ballast
