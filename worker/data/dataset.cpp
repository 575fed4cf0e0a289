#include <stdexcept>
#include <string>
#include <utility>

#include "worker/data/datasets.h"
#include "worker/data/example_files.h"

namespace ballast {

namespace {

std::unique_ptr<Dataset> open_whole(const DataSpec& spec, const std::string& worker_path, DatasetUse use) {
  if (spec.name == "mnist") {
    return open_mnist(spec, worker_path);
  }
  if (spec.name == "idx") {
    return open_idx(spec, worker_path);
  }
  if (spec.name == "cifar10") {
    return open_cifar10(spec, worker_path);
  }
  if (spec.name == "images") {
    return open_images(spec, worker_path, use);
  }
  if (spec.name == "glyphs") {
    return make_glyphs(spec);
  }
  if (spec.name == "none") {
    return make_none(spec);
  }
  if (spec.name == "text") {
    return open_text(spec, worker_path, use);
  }
  if (spec.name == "characters") {
    return open_characters(spec, worker_path);
  }
  if (spec.name == "trees") {
    return open_trees(spec, worker_path, use);
  }
  if (spec.name == "csv") {
    return open_csv(spec, worker_path, use);
  }
  if (spec.name == "npy") {
    return open_arrays(spec, worker_path);
  }
  throw std::runtime_error("data.name is \"" + spec.name +
                           "\"; known are mnist, glyphs, idx, cifar10, images, text, characters, trees, csv, npy and "
                           "none");
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const DataSpec& spec, const std::string& worker_path, DatasetUse use) {
  auto dataset = open_whole(spec, worker_path, use);
  return spec.validation_examples == 0 ? std::move(dataset) : hold_out(std::move(dataset), spec.validation_examples);
}

}  // namespace ballast
