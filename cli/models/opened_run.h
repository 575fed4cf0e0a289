// A run's folder, opened to look at what its databases hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "storage/store/run_reader.h"

namespace ballast {

// Which snapshot of a run is meant; at most one of `step` and `best`. Neither: the final weights of a run that has
// finished, else its newest complete snapshot.
struct SnapshotChoice {
  std::optional<Step> step;
  bool best = false;
  bool last_weights = false;  // as training left them, though the job averages its weights
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
    std::string words;      // "the final weights of runs/a: step 300 of timeline 1"
    bool averages = false;  // their moving averages are meant
  };
  [[nodiscard]] Chosen choose(const SnapshotChoice& choice) const;
  // The chosen weights, or their averages: the content of the parameters in the model's order.
  void visit(const Chosen& chosen, const RunReader::Visitor& visitor) const;
  // The same as the whole arena: padding and statistics zero.
  [[nodiscard]] std::vector<float> weights(const Chosen& chosen) const;
  // SHA-256 over what visit() shows; without averages that of `ballast digest`.
  [[nodiscard]] std::string weights_sha256(const Chosen& chosen) const;
  [[nodiscard]] WeightsDigest digest(const SnapshotId& snapshot) const;

 private:
  std::string folder_;
  std::unique_ptr<const Job> job_;
  RunReader reader_;
};

}  // namespace ballast
