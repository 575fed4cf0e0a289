#include "worker/data/job_data.h"

#include "worker/data/failures.h"

namespace ballast {

namespace {

std::string sizes_text(std::uint32_t train, std::uint32_t validation, std::uint32_t test) {
  return std::to_string(train) + " training, " + std::to_string(validation) + " validation and " +
         std::to_string(test) + " test examples";
}

void check_sizes(const Dataset& dataset, const Job& job) {
  const auto train = dataset.size(DataSplit::train);
  const auto validation = dataset.size(DataSplit::validation);
  const auto test = dataset.size(DataSplit::test);
  if (train != job.sizes.train || validation != job.sizes.validation || test < job.sizes.test) {
    throw BadData("data " + job.spec.data.name + ": this machine's copy has " + sizes_text(train, validation, test) +
                  ", the job counts on " + sizes_text(job.sizes.train, job.sizes.validation, job.sizes.test));
  }
}

}  // namespace

std::unique_ptr<Dataset> open_job_data(const Job& job, const std::string& worker_path) {
  auto dataset = reading_data([&] { return open_dataset(job.spec.data, worker_path); });
  check_sizes(*dataset, job);
  return dataset;
}

}  // namespace ballast
