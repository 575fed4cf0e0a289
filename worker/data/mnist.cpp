#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/job/model_parameters.h"
#include "common/text/shell_word.h"
#include "worker/data/datasets.h"
#include "worker/data/idx.h"
#include "worker/data/normalise.h"
#include "worker/data/pixel_dataset.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kFiles = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                               "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
using Paths = std::array<fs::path, kFiles.size()>;

std::optional<fs::path> file_in(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    std::error_code error;
    const fs::path path = folder / (name + ending);
    if (fs::exists(path, error) || error) {  // what can't be looked at (no permission) is for its reader to tell
      return path;
    }
  }
  return std::nullopt;
}

// The set's four files, nothing if the folder has none of them; throws if it has only some.
std::optional<Paths> files_in(const fs::path& folder) {
  Paths paths;
  std::string missing;
  std::size_t found = 0;
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    if (const auto path = file_in(folder, kFiles[i])) {
      paths[i] = *path;
      ++found;
    } else {
      missing += (missing.empty() ? "" : ", ") + std::string(kFiles[i]) + "[.gz]";
    }
  }
  if (found != 0 && found != kFiles.size()) {
    throw std::runtime_error(folder.string() + " holds only a part of the data set; add " + missing +
                             ", or fetch them with `ballast data get mnist --to " + shell_word(folder.string()) + "`");
  }
  return found == 0 ? std::nullopt : std::optional(paths);
}

PixelSplit read_split(const fs::path& images, const fs::path& labels, std::uint32_t counted, std::uint32_t asked,
                      const char* key) {
  auto examples = read_idx_examples(images, labels);
  PixelSplit split{std::move(examples.images), std::move(examples.labels)};
  if (asked == 0 && split.count() != counted) {
    throw std::runtime_error(images.string() + " holds " + std::to_string(split.count()) +
                             " examples where all of MNIST's " + std::to_string(counted) + " are expected; set data." +
                             key + " to " + std::to_string(std::min(split.count(), counted)) +
                             " or less, or name another folder");
  }
  keep_first(split, counted, std::string("data.") + key, images.string());
  return split;
}

}  // namespace

std::vector<fs::path> mnist_folders(const DataSpec& spec, const std::string& worker_path) {
  if (const auto named = named_folder(spec, worker_path)) {
    return {*named};  // whoever names a folder does not mean another one's data
  }
  std::vector<fs::path> folders;
  if (const std::string data = environment("BALLAST_DATA"); !data.empty()) {
    folders.emplace_back(data);
    folders.push_back(fs::path(data) / "mnist");
  }
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) {
    folders.push_back(fs::path(cache) / "ballast" / "mnist");
  } else if (const std::string home = environment("HOME"); !home.empty()) {
    folders.push_back(fs::path(home) / ".cache" / "ballast" / "mnist");
  }
  return folders;
}

fs::path find_mnist(const DataSpec& spec, const std::string& worker_path) {
  std::string looked_at;
  for (const fs::path& folder : mnist_folders(spec, worker_path)) {
    if (files_in(folder)) {
      return folder;
    }
    looked_at += (looked_at.empty() ? "" : ", ") + folder.string();
  }
  throw std::runtime_error(
      "data set mnist: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
      "t10k-labels-idx1-ubyte (plain or .gz) were not found in " +
      (looked_at.empty() ? "any folder (none is configured)" : looked_at) +
      (worker_path.empty() && spec.path.empty() ? "" : ", and no other folder is searched where one is named") +
      "; fetch them with 'ballast data get mnist', set data.path or $BALLAST_DATA to their folder, or use data set "
      "glyphs, which needs no files");
}

std::unique_ptr<Dataset> open_mnist(const DataSpec& spec, const std::string& worker_path) {
  const fs::path folder = find_mnist(spec, worker_path);
  const auto found = files_in(folder);
  if (!found) {
    throw std::runtime_error(folder.string() + ": the files of data set mnist have just gone away");
  }
  const Paths& files = *found;
  const SplitSizes sizes = whole_split_sizes(spec);
  return make_pixel_dataset("idx", read_split(files[0], files[1], sizes.train, spec.train_examples, "train_examples"),
                            read_split(files[2], files[3], sizes.test, spec.test_examples, "test_examples"),
                            example_shape(spec), normalisation_of(spec));
}

}  // namespace ballast
