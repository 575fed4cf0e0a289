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
  keep_first(train, sizes.train, "data.train_examples", (folder / spec.train).string());
  keep_first(test, sizes.test, "data.test_examples", (folder / spec.test).string());
  return make_pixel_dataset(kind, std::move(train), std::move(test), example_shape(spec), normalisation_of(spec));
}

}  // namespace

std::unique_ptr<Dataset> open_idx(const DataSpec& spec, const std::string& worker_path) {
  const auto folder = data_folder(spec, worker_path);
  const auto shape = example_shape(spec);
  const auto read = [&](const std::string& images, const std::string& labels) {
    auto examples = read_idx_examples(folder / images, folder / labels, {shape.height, shape.width, shape.classes});
    return PixelSplit{std::move(examples.images), std::move(examples.labels)};
  };
  return make("idx", spec, folder, read(spec.train, spec.train_labels), read(spec.test, spec.test_labels));
}

std::unique_ptr<Dataset> open_cifar10(const DataSpec& spec, const std::string& worker_path) {
  const auto folder = data_folder(spec, worker_path);
  const auto classes = example_shape(spec).classes;
  const auto read = [&](const std::string& name) {
    PixelSplit split;
    for (const auto& file : files_named(folder, name)) {
      append_cifar10(file, classes, split);
    }
    return split;
  };
  return make("cifar10", spec, folder, read(spec.train), read(spec.test));
}

}  // namespace ballast
