#include "common/job/model_parameters.h"
#include "worker/data/cifar10.h"
#include "worker/data/datasets.h"
#include "worker/data/idx.h"
#include "worker/data/normalise.h"
#include "worker/data/pixel_dataset.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Dataset> make(const char* kind, const DataSpec& spec, const fs::path& folder, PixelSplit train,
                              PixelSplit test) {
  const auto sizes = whole_split_sizes(spec);
  keep_first(train, sizes.train, "data.train_examples", (folder / spec.train.front()).string());
  keep_first(test, sizes.test, "data.test_examples", (folder / spec.test.front()).string());
  return make_pixel_dataset(kind, std::move(train), std::move(test), example_shape(spec), normalisation_of(spec));
}

}  // namespace

std::unique_ptr<Dataset> open_idx(const DataSpec& spec, const std::string& worker_path) {
  const auto folder = data_folder(spec, worker_path);
  const auto shape = example_shape(spec);
  const auto read = [&](const std::vector<std::string>& files) {
    auto examples =
        read_idx_examples(folder / files.at(0), folder / files.at(1), {shape.height, shape.width, shape.classes});
    return PixelSplit{std::move(examples.images), std::move(examples.labels)};
  };
  return make("idx", spec, folder, read(spec.train), read(spec.test));
}

std::unique_ptr<Dataset> open_cifar10(const DataSpec& spec, const std::string& worker_path) {
  const auto folder = data_folder(spec, worker_path);
  const auto classes = example_shape(spec).classes;
  const auto read = [&](const std::vector<std::string>& files) {
    PixelSplit split;
    for (const auto& file : files) {
      append_cifar10(folder / file, classes, split);
    }
    return split;
  };
  return make("cifar10", spec, folder, read(spec.train), read(spec.test));
}

}  // namespace ballast
