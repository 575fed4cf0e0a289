#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"
#include "worker/data/idx.h"
#include "worker/data/normalise.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = std::size_t{28} * 28;
constexpr std::uint32_t kTrainExamples = 60000;  // of MNIST and the sets made in its image
constexpr std::uint32_t kTestExamples = 10000;
constexpr std::array<const char*, 4> kFiles = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                               "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
using Paths = std::array<fs::path, kFiles.size()>;

class Mnist : public Dataset {
 public:
  Mnist(IdxExamples train, IdxExamples test) : train_(std::move(train)), test_(std::move(test)) {
    Sha256 digest;
    for (const IdxExamples* split : {&train_, &test_}) {
      digest.update("idx " + std::to_string(split->count()) + "\n");
      digest.update(std::as_bytes(std::span(split->images))).update(std::as_bytes(std::span(split->labels)));
    }
    digest_ = digest.hex();
  }

  [[nodiscard]] std::uint32_t size(Split split) const override { return of(split).count(); }
  std::int32_t read(Split split, std::uint32_t index, std::span<float> features) const override {
    normalise(std::span(of(split).images).subspan(index * kPixels, kPixels), features);
    return of(split).labels[index];
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return digest_; }

 private:
  [[nodiscard]] const IdxExamples& of(Split split) const { return split == Split::train ? train_ : test_; }

  IdxExamples train_;
  IdxExamples test_;
  ExampleShape shape_{1, 28, 28, 10};
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
    throw std::runtime_error(folder.string() + " holds only a part of the data set; add " + missing);
  }
  return found == 0 ? std::nullopt : std::optional(paths);
}

// Keeps the first `wanted` examples. 0 = all, which must be as many as MNIST's: the cluster counts steps by that number
// without reading the data.
IdxExamples cut(IdxExamples examples, std::uint32_t wanted, std::uint32_t all, const char* key, const fs::path& path) {
  const std::uint32_t count = examples.count();
  if (wanted > count) {
    throw std::runtime_error("data." + std::string(key) + " is " + std::to_string(wanted) + ", but " + path.string() +
                             " holds only " + std::to_string(count) + " examples; lower it");
  }
  if (wanted == 0 && count != all) {
    throw std::runtime_error(path.string() + " holds " + std::to_string(count) + " examples, not MNIST's " +
                             std::to_string(all) + "; set data." + key + " to the number wanted");
  }
  if (wanted != 0) {
    examples.images.resize(wanted * kPixels);
    examples.images.shrink_to_fit();
    examples.labels.resize(wanted);
  }
  return examples;
}

}  // namespace

std::vector<fs::path> mnist_folders(const DataSpec& spec, const std::string& worker_path) {
  std::vector<fs::path> folders;
  for (const std::string& path : {worker_path, spec.path}) {
    if (!path.empty()) {
      folders.emplace_back(path);
    }
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

std::unique_ptr<Dataset> open_mnist(const DataSpec& spec, const std::string& worker_path) {
  std::string looked_at;
  for (const fs::path& folder : mnist_folders(spec, worker_path)) {
    if (const auto paths = files_in(folder)) {
      return std::make_unique<Mnist>(cut(read_idx_examples((*paths)[0], (*paths)[1]), spec.train_examples,
                                         kTrainExamples, "train_examples", (*paths)[0]),
                                     cut(read_idx_examples((*paths)[2], (*paths)[3]), spec.test_examples, kTestExamples,
                                         "test_examples", (*paths)[2]));
    }
    looked_at += (looked_at.empty() ? "" : ", ") + folder.string();
  }
  throw std::runtime_error(
      "data set mnist: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
      "t10k-labels-idx1-ubyte (plain or .gz) were not found in " +
      (looked_at.empty() ? "any folder (none is configured)" : looked_at) +
      "; set data.path or $BALLAST_DATA to their folder, or use data set glyphs, which needs no "
      "files");
}

}  // namespace ballast
