#include "cli/models/loaded_model.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "common/command/usage_error.h"
#include "common/job/load.h"
#include "common/safetensors/initial_weights.h"
#include "worker/data/datasets.h"

namespace ballast {

LoadedModel::LoadedModel(ModelSource source) : source_(std::move(source)) {
  std::error_code error;
  if (!std::filesystem::exists(source_.weights, error)) {
    throw std::runtime_error(source_.weights + ": there is no such run folder or safetensors file");
  }
  if (std::filesystem::is_directory(source_.weights)) {
    load_run();
  } else {
    load_file();
  }
  model_ = make_model(job_->spec.model, job_->shape, job_->arena, on_cpu(job_->spec.training.threads_per_slot));
}

void LoadedModel::load_run() {
  const auto run =
      source_.job.empty() ? OpenedRun(source_.weights) : OpenedRun(source_.weights, make_job(load_job(source_.job)));
  const auto chosen = run.choose(source_.snapshot);
  words_ = chosen.words;
  weights_ = run.weights(chosen);
  job_ = std::make_unique<const Job>(run.job());
}

void LoadedModel::load_file() {
  if (source_.snapshot.step || source_.snapshot.best || source_.snapshot.last_weights) {
    throw std::runtime_error(source_.weights +
                             ": a file holds one set of weights: leave --step, --best and --last-weights out");
  }
  if (source_.job.empty()) {
    throw std::runtime_error(source_.weights +
                             ": a file does not say which model and data it belongs to: add --job JOB");
  }
  job_ = std::make_unique<const Job>(make_job(load_job(source_.job)));
  const auto file = value_or_throw(load_initial(source_.weights, job_->arena));
  weights_.resize(job_->arena.elements);
  for (const auto& chunk : job_->arena.chunks) {
    const auto content = value_or_throw(file.chunk(chunk.id));
    std::ranges::copy(content, weights_.begin() + static_cast<std::ptrdiff_t>(chunk.offset));
  }
  words_ = "the weights in " + source_.weights;
}

std::unique_ptr<Dataset> LoadedModel::open_data() const {
  const auto& data = job_->spec.data;
  if (!source_.data_path.empty() && !reads_files(data)) {
    throw UsageError("--data " + source_.data_path + ": the job's data set, " + data.name +
                     ", is generated and reads no files; leave --data out");
  }
  return open_dataset(data, source_.data_path);
}

EvaluatedSplit LoadedModel::split_named(const std::string& name) const {
  const bool validation = name == "validation";
  const auto examples = validation ? job_->sizes.validation : job_->sizes.test;
  if (examples == 0) {
    throw std::runtime_error("job " + job_->spec.job + " has no " + name + " examples" +
                             (validation ? ": data.validation_examples is 0" : ""));
  }
  return {validation ? DataSplit::validation : DataSplit::test, examples};
}

}  // namespace ballast
