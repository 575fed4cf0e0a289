#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/job/model_parameters.h"
#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"
#include "worker/data/idx.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = std::size_t{28} * 28;
constexpr std::array<const char*, 4> kFiles = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                               "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
using Paths = std::array<fs::path, kFiles.size()>;

class Mnist : public Dataset {
 public:
  Mnist(IdxExamples train, IdxExamples test, const ExampleShape& shape)
      : train_(std::move(train)), test_(std::move(test)), shape_(shape) {
    Sha256 digest;
    for (const IdxExamples* split : {&train_, &test_}) {
      digest.update("idx " + std::to_string(split->count()) + "\n");
      digest.update(std::as_bytes(std::span(split->images))).update(std::as_bytes(std::span(split->labels)));
    }
    digest_ = digest.hex();
  }

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::validation ? 0 : of(split).count();
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    normalise(std::span(of(split).images).subspan(index * kPixels, kPixels), room.features);
    room.labels[0] = of(split).labels[index];
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    return of(split).labels[index];
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return digest_; }

 private:
  [[nodiscard]] const IdxExamples& of(DataSplit split) const { return split == DataSplit::train ? train_ : test_; }

  IdxExamples train_;
  IdxExamples test_;
  ExampleShape shape_;
  std::string digest_;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

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
                             ", or fetch them with 'ballast data get mnist --to " + folder.string() + "'");
  }
  return found == 0 ? std::nullopt : std::optional(paths);
}

// Keeps the first `counted` examples: as many as the cluster counts steps by, without having read the data. A set that
// the job leaves whole (`asked` 0) must have exactly so many.
IdxExamples cut(IdxExamples examples, std::uint32_t counted, std::uint32_t asked, const char* key,
                const fs::path& path) {
  const std::uint32_t held = examples.count();
  if (held < counted || (asked == 0 && held != counted)) {
    throw std::runtime_error(path.string() + " holds " + std::to_string(held) + " examples where " +
                             (asked == 0 ? "all of MNIST's " : "data." + std::string(key) + " asks for ") +
                             std::to_string(counted) + (asked == 0 ? " are expected" : "") + "; set data." + key +
                             " to " + std::to_string(std::min(held, counted)) + " or less, or name another folder");
  }
  examples.images.resize(counted * kPixels);
  examples.images.shrink_to_fit();
  examples.labels.resize(counted);
  return examples;
}

}  // namespace

std::vector<fs::path> mnist_folders(const DataSpec& spec, const std::string& worker_path) {
  if (!worker_path.empty()) {
    return {worker_path};  // whoever names a folder does not mean another one's data
  }
  std::vector<fs::path> folders;
  if (!spec.path.empty()) {
    folders.emplace_back(spec.path);
  }
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
      (worker_path.empty() ? "" : ", and no other folder is searched where one is named") +
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
  return std::make_unique<Mnist>(
      cut(read_idx_examples(files[0], files[1]), sizes.train, spec.train_examples, "train_examples", files[0]),
      cut(read_idx_examples(files[2], files[3]), sizes.test, spec.test_examples, "test_examples", files[2]),
      example_shape(spec));
}

}  // namespace ballast
