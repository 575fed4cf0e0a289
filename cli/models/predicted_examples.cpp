#include "cli/models/predicted_examples.h"

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "worker/data/idx.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

void check_reads_grey_images(const std::string& path, const Job& job) {
  const auto refuse = [&](const std::string& what) {
    throw std::runtime_error("--input " + path + ": an idx file holds images of one channel; " + what +
                             "; leave --input out: the job's own data are predicted then");
  };
  const auto& data = job.spec.data;
  if (is_example_files(data)) {
    refuse("the examples of the job's data set, " + data.name + ", are none");
  }
  if (job.shape.channels != 1) {
    refuse("the job's have " + std::to_string(job.shape.channels));
  }
}

}  // namespace

PredictedExamples examples_of_file(const std::string& path, const Job& job) {
  check_reads_grey_images(path, job);
  const auto& shape = job.shape;
  const auto images = std::make_shared<IdxArray>(read_idx(path, {std::nullopt, shape.height, shape.width}));
  const auto pixels = shape.features();
  return {
      images->dimensions[0], false,
      [images, pixels, normalisation = normalisation_of(job.spec.data)](std::uint64_t index, const ExampleRoom& room) {
        normalisation.apply(std::span(images->values).subspan(index * pixels, pixels), room.features);
      }};
}

PredictedExamples examples_of_job(const LoadedModel& model, const std::string& split_name) {
  const auto split = model.split_named(split_name);
  const std::shared_ptr<const Dataset> data = model.open_data();
  return {split.examples, true, [data, split](std::uint64_t index, const ExampleRoom& room) {
            data->read(split.split, static_cast<std::uint32_t>(index), room);
          }};
}

}  // namespace ballast
