// A trained model, ready to be asked: a job, its weights from a run or a file, the network and the data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/models/opened_run.h"
#include "common/job/job.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace ballast {

struct ModelSource {
  std::string weights;  // a run's folder, or a safetensors file
  SnapshotChoice snapshot;
  std::string job;        // a job file; empty: the one that a run's databases, or a file's metadata, hold
  std::string data_path;  // folder of the data; empty: searched as workers do
};

// What was named on the command line as "test", "validation" or "train".
struct EvaluatedSplit {
  DataSplit split = DataSplit::test;
  std::string name = "test";
  std::uint32_t examples = 0;  // as the job counts them
};

// One thread. The constructor throws std::runtime_error or ConfigError with a text for the user; so does open_data.
// With a job file, it must agree with the weights' own job, as far as that is known (same_job.h); what may differ is a
// warning on standard error.
class LoadedModel {
 public:
  explicit LoadedModel(ModelSource source);

  [[nodiscard]] const Job& job() const { return *job_; }
  [[nodiscard]] const std::string& words() const { return words_; }  // which weights these are
  [[nodiscard]] Model& model() { return *model_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }

  // The folder of the data that was named; empty: none was.
  [[nodiscard]] const std::string& data_path() const { return source_.data_path; }
  // The job's data set, to be asked about. Examples are read as they are, never augmented.
  [[nodiscard]] std::unique_ptr<Dataset> open_data() const;
  // Of an empty name: test, or if the job has no test examples, validation. Throws std::runtime_error if the job has no
  // such examples, and says which it has.
  [[nodiscard]] EvaluatedSplit split_named(const std::string& name) const;

 private:
  void load_file();
  void load_run();
  void warn_of(const std::string& difference) const;

  ModelSource source_;
  std::unique_ptr<const Job> job_;  // the model refers to its arena
  std::string words_;
  std::vector<float> weights_;  // the whole arena
  std::unique_ptr<Model> model_;
};

}  // namespace ballast
