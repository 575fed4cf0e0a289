#include "cli/models/loaded_model.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "cli/models/same_job.h"
#include "common/command/usage_error.h"
#include "common/job/load.h"
#include "common/safetensors/initial_weights.h"
#include "worker/data/datasets.h"

namespace ballast {

namespace {

// The effective job that `ballast export` wrote into the file; empty if it did not.
std::string job_in(const safetensors::Metadata& metadata) {
  const auto found = metadata.find("job_file");
  return found == metadata.end() ? std::string() : found->second;
}

WeightsOrigin origin_of_run(const std::string& folder, const std::string& effective_job) {
  const auto job = make_job(parse_job(effective_job, folder + " (its job)"));
  auto metadata = example_metadata(job);
  metadata["model"] = job.spec.model.name;
  return {folder, metadata, effective_job,
          "leave --job out (the run's databases hold its job), or correct the job file"};
}

}  // namespace

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
  if (!source_.job.empty()) {
    warn_of(
        check_same_job(origin_of_run(source_.weights, run.reader().identity().effective_job), run.job(), source_.job));
  }
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
  const auto metadata = value_or_throw(safetensors::Reader::open(source_.weights)).header().metadata;
  const auto own_job = job_in(metadata);
  if (source_.job.empty() && own_job.empty()) {
    throw std::runtime_error(source_.weights +
                             ": the file does not say which model and data it belongs to (it has no job_file in its "
                             "metadata, as ballast export writes it): add --job JOB");
  }
  job_ = std::make_unique<const Job>(make_job(source_.job.empty()
                                                  ? parse_job(own_job, source_.weights + " (job_file in its metadata)")
                                                  : load_job(source_.job)));
  const auto file = value_or_throw(load_initial(source_.weights, job_->arena));
  weights_.resize(job_->arena.elements);
  for (const auto& chunk : job_->arena.chunks) {
    const auto content = value_or_throw(file.chunk(chunk.id));
    std::ranges::copy(content, weights_.begin() + static_cast<std::ptrdiff_t>(chunk.offset));
  }
  if (!source_.job.empty()) {
    warn_of(check_same_job({source_.weights, metadata, own_job,
                            own_job.empty() ? "correct the job file"
                                            : "leave --job out (the file has its own job), or correct the job file"},
                           *job_, source_.job));
  }
  words_ = "the weights in " + source_.weights;
}

std::unique_ptr<Dataset> LoadedModel::open_data() const {
  const auto& data = job_->spec.data;
  if (!source_.data_path.empty() && !reads_files(data)) {
    throw UsageError("--data " + source_.data_path + ": the job's data set, " + data.name +
                     ", is generated and reads no files; leave --data out");
  }
  return open_dataset(data, source_.data_path, DatasetUse::asking);
}

void LoadedModel::warn_of(const std::string& difference) const {
  if (!difference.empty()) {
    std::fprintf(stderr, "warning: %s\n", difference.c_str());
  }
}

EvaluatedSplit LoadedModel::split_named(const std::string& name) const {
  const auto& sizes = job_->sizes;
  const std::array<EvaluatedSplit, 3> splits = {{{DataSplit::test, "test", sizes.test},
                                                 {DataSplit::validation, "validation", sizes.validation},
                                                 {DataSplit::train, "train", sizes.train}}};
  std::string others;
  for (const auto& split : splits) {
    const bool wanted = name.empty() ? split.split != DataSplit::train : split.name == name;
    if (wanted && split.examples > 0) {
      return split;
    }
    if (split.examples > 0) {
      others += (others.empty() ? "" : ", or ") + std::string("--split ") + split.name + " for its " +
                std::to_string(split.examples) + " " + split.name + " examples";
    }
  }
  throw std::runtime_error("job " + job_->spec.job + " has no " + (name.empty() ? "test or validation" : name) +
                           " examples" + (name == "validation" ? " (data.validation_examples is 0)" : "") +
                           (others.empty() ? "" : "; say " + others));
}

}  // namespace ballast
