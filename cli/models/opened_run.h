// A run's folder, opened to look at what its databases hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "storage/store/run_reader.h"

namespace ballast {

// Which snapshot of a run is meant; at most one of the two. Neither: the final weights of a run that has finished, else
// its newest complete snapshot.
struct SnapshotChoice {
  std::optional<Step> step;
  bool best = false;
};

// One thread. Every function throws std::runtime_error, whose text names the database and the remedy.
class OpenedRun {
 public:
  // The job is the one that the databases name.
  explicit OpenedRun(const std::string& folder);
  // The same for a job that is given: refused if its model has another layout.
  OpenedRun(const std::string& folder, Job job);

  [[nodiscard]] const Job& job() const { return *job_; }
  [[nodiscard]] const RunReader& reader() const { return reader_; }

  struct Chosen {
    SnapshotId id;
    std::string words;  // "the final weights of runs/a: step 300 of timeline 1"
  };
  [[nodiscard]] Chosen choose(const SnapshotChoice& choice) const;
  // The whole arena: padding and statistics zero.
  [[nodiscard]] std::vector<float> weights(const SnapshotId& snapshot) const;
  [[nodiscard]] WeightsDigest digest(const SnapshotId& snapshot) const;

 private:
  std::string folder_;
  std::unique_ptr<const Job> job_;
  RunReader reader_;
};

}  // namespace ballast
