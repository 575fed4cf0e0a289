#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/job/model_parameters.h"
#include "common/log/log.h"
#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"
#include "worker/data/image_files.h"
#include "worker/data/images/decode_resized.h"
#include "worker/data/normalise.h"
#include "worker/data/pixel_cache.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

// One split: its files, its examples in their order, and those that were decoded.
class ImageSplit {
 public:
  // `memory` is what decoded images may take.
  ImageSplit(ImageFiles files, const std::filesystem::path& path, const DataSpec& spec, std::uint32_t examples,
             const char* key, EmptyClasses empty, std::uint64_t memory, DatasetUse use)
      : files_(std::move(files)),
        examples_(spread_examples(files_.files(), spec.classes, path.string(), empty)),
        shape_(example_shape(spec)),
        skips_(spec.corrupt == "skip"),
        replaces_(use == DatasetUse::training),
        cache_(examples, shape_.features(), memory) {
    if (examples_.size() < examples) {
      throw std::runtime_error(path.string() + " holds " + std::to_string(examples_.size()) + " examples where data." +
                               key + " asks for " + std::to_string(examples) + "; lower it, or name another path");
    }
    examples_.resize(examples);
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(examples_.size()); }
  [[nodiscard]] std::int32_t label(std::uint32_t index) const {
    return static_cast<std::int32_t>(examples_[index].label);
  }
  // Bytes that decoded images may come to take.
  [[nodiscard]] std::uint64_t decoded_memory() const { return cache_.memory(); }

  std::span<const std::uint8_t> pixels(std::uint32_t index, std::span<std::uint8_t> own) const {
    return cache_.get(index, own, [&](std::span<std::uint8_t> to) { decode_or_replace(index, to); });
  }

  [[nodiscard]] std::uint64_t corrupt() const {
    const std::lock_guard lock(mutex_);
    return corrupt_.size();
  }
  [[nodiscard]] std::string source(std::uint32_t index) const {
    return files_.where(files_.files()[examples_[index].file]);
  }
  // Why an example could not be read, if nothing takes its place.
  [[nodiscard]] std::string fault(std::uint32_t index) const {
    if (replaces_) {
      return {};
    }
    const std::lock_guard lock(mutex_);
    const auto found = corrupt_.find(index);
    return found == corrupt_.end() ? std::string() : found->second;
  }

  void add_to(Sha256& digest) const {
    digest.update("images " + std::to_string(size()) + "\n");
    for (const auto& example : examples_) {
      const auto& file = files_.files()[example.file];
      digest.update(std::to_string(example.label) + " " + file.digest + " " + file.path() + "\n");
    }
  }

 private:
  void decode(std::uint32_t index, std::span<std::uint8_t> to) const {
    decode_resized(files_.bytes(files_.files()[examples_[index].file]), shape_, to);
  }

  void decode_or_replace(std::uint32_t index, std::span<std::uint8_t> to) const {
    try {
      decode(index, to);
    } catch (const BadImage& bad) {
      const auto fault = image_fault(bad);
      if (!skips_) {
        throw std::runtime_error(source(index) + ", " + fault + "; repair it, take it away, or set data.corrupt: skip");
      }
      if (replaces_) {
        replace(index, fault, to);
      } else {
        std::ranges::fill(to, std::uint8_t{0});
        note(index, fault, "left out");
      }
    }
  }

  // By the next example of its class that can be decoded, in the split's order, from its beginning again.
  void replace(std::uint32_t index, const std::string& fault, std::span<std::uint8_t> to) const {
    for (std::uint32_t i = 1; i < size(); ++i) {
      const auto other = (index + i) % size();
      if (examples_[other].label != examples_[index].label) {
        continue;
      }
      try {
        decode(other, to);
        note(index, fault, source(other) + " takes its place");
        return;
      } catch (const BadImage&) {
        continue;
      }
    }
    throw std::runtime_error(source(index) + ", " + fault + "; no example of its class can be decoded in its place");
  }

  // Each once.
  void note(std::uint32_t index, const std::string& fault, const std::string& instead) const {
    const std::lock_guard lock(mutex_);
    if (corrupt_.emplace(index, fault).second) {
      log_warn("corrupt example: {}, {}; {} ({} in this split so far)", source(index), fault, instead, corrupt_.size());
    }
  }

  ImageFiles files_;
  std::vector<ImageExample> examples_;
  ExampleShape shape_;
  bool skips_;
  bool replaces_;  // a corrupt image by another
  mutable PixelCache cache_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint32_t, std::string> corrupt_;  // why, by index
};

class Images : public Dataset {
 public:
  // `memory` is what decoded images of both splits may take.
  Images(const DataSpec& spec, ImageFiles train, const std::filesystem::path& train_path, ImageFiles test,
         const std::filesystem::path& test_path, std::uint64_t memory, DatasetUse use)
      : shape_(example_shape(spec)),
        normalisation_(normalisation_of(spec)),
        train_(std::move(train), train_path, spec, whole_split_sizes(spec).train, "train_examples",
               EmptyClasses::refused, memory, use),
        test_(std::move(test), test_path, spec, whole_split_sizes(spec).test, "test_examples", EmptyClasses::allowed,
              memory - train_.decoded_memory(), use) {}

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::validation ? 0 : of(split).size();
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    static thread_local std::vector<std::uint8_t> own;
    own.resize(shape_.features());
    normalisation_.apply(of(split).pixels(index, own), room.features);
    room.labels[0] = label(split, index);
  }
  [[nodiscard]] std::string source(DataSplit split, std::uint32_t index) const override {
    return of(split).source(index);
  }
  [[nodiscard]] std::string fault(DataSplit split, std::uint32_t index) const override {
    return of(split).fault(index);
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    return of(split).label(index);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  // Of the files as they are; how this machine decodes them is for the data digest to probe.
  [[nodiscard]] std::string digest() const override {
    Sha256 digest;
    train_.add_to(digest);
    test_.add_to(digest);
    return digest.hex();
  }
  [[nodiscard]] std::uint64_t corrupt() const override { return train_.corrupt() + test_.corrupt(); }

 private:
  [[nodiscard]] const ImageSplit& of(DataSplit split) const { return split == DataSplit::train ? train_ : test_; }

  ExampleShape shape_;
  Normalisation normalisation_;
  ImageSplit train_;
  ImageSplit test_;
};

}  // namespace

std::unique_ptr<Dataset> open_images(const DataSpec& spec, const std::string& worker_path, DatasetUse use) {
  const auto folder = data_folder(spec, worker_path);
  // What must be held comes before what may be: images of the train split would else take the test archive's room.
  const auto memory = spec.cache_mb * kMegabyte;
  ImageFiles train(folder / spec.train, memory);
  ImageFiles test(folder / spec.test, memory - train.memory());
  const auto left = memory - train.memory() - test.memory();
  return std::make_unique<Images>(spec, std::move(train), folder / spec.train, std::move(test), folder / spec.test,
                                  left, use);
}

}  // namespace ballast
