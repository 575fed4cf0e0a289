// What a supervisor does about `ballast scale`: takes its wishes, and tells what comes of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_folder/scale_files.h"
#include "cli/running/cluster.h"
#include "cli/telling/progress.h"
#include "protocol/messages.h"

namespace ballast {

// How many of the workers that the wish is about the lead knows, and what is missing. Pure. `status`: the lead's last
// word, null if there is none.
ScaleAnswer scale_answer(const ScaleWish& wish, const std::vector<Member>& members, const Status* status);

// One thread.
class Scaler {
 public:
  // Both must outlive it.
  Scaler(Cluster& cluster, Progress& progress) : cluster_(cluster), progress_(progress) {}

  // Now and then. `hindrance`: why the workers stay as they are now; empty if they may change.
  void turn(Clock::time_point now, const std::optional<Status>& status, const std::string& hindrance);

 private:
  void take(Clock::time_point now, const std::string& hindrance);
  void tell(const ScaleAnswer& answer);

  Cluster& cluster_;
  Progress& progress_;
  Clock::time_point look_at_;
  std::optional<ScaleWish> wish_;  // under way
  std::optional<ScaleAnswer> told_;
  std::string told_refusal_;  // of a file
};

}  // namespace ballast
