#include "worker/data/failures.h"

#include <algorithm>
#include <array>
#include <cerrno>

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

bool may_pass(const std::error_code& error) {
  static constexpr std::array kLasting = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EINVAL};
  return std::ranges::none_of(
      kLasting, [&](int number) { return error == std::error_condition(number, std::generic_category()); });
}

void throw_unread(const std::string& text, const std::error_code& error) {
  if (may_pass(error)) {
    throw ReadFailure(text);
  }
  throw std::runtime_error(text);
}

std::unique_ptr<Dataset> open_job_data(const Job& job, const std::string& worker_path) {
  auto dataset = reading_data([&] { return open_dataset(job.spec.data, worker_path); });
  check_sizes(*dataset, job);
  return dataset;
}

}  // namespace ballast
