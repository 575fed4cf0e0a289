// `ballast data describe` of images: idx files, CIFAR-10's records, folders and archives.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>

#include "cli/data/described_kinds.h"
#include "cli/data/section_text.h"
#include "common/job/model_parameters.h"
#include "worker/data/cifar10.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/idx.h"
#include "worker/data/image_files.h"
#include "worker/data/images/decode.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMegabytes = 4000;  // of a compressed archive, and of what is decoded

// Of a split, read to its end. Sums are over whole numbers from 0 to 255, hence exact in any order; the mean is their
// quotient in double, the deviation the root of the mean square less the mean's square.
struct SplitFacts {
  std::vector<std::uint64_t> by_class;
  std::vector<double> mean;  // by channel, of values from 0 to 1, over the examples that can be read
  std::vector<double> deviation;
  CorruptList corrupt;
};

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(std::to_string(i));
  }
  return names;
}

void describe_idx(const fs::path& folder, DataSpec& spec) {
  const auto images = read_idx(folder / spec.train, {std::nullopt, std::nullopt, std::nullopt});
  const auto train = read_idx(folder / spec.train_labels, {std::nullopt});
  const auto test = read_idx(folder / spec.test_labels, {std::nullopt});
  spec.height = images.dimensions[1];
  spec.width = images.dimensions[2];
  spec.train_examples = train.dimensions[0];
  spec.test_examples = test.dimensions[0];
  const std::size_t last = train.values.empty() ? 0 : *std::ranges::max_element(train.values);
  spec.classes = numbered(last + 1);
}

std::uint32_t count_records(const fs::path& folder, const std::string& name) {
  constexpr std::uint32_t kAnyLabel = 256;
  PixelSplit split;
  for (const auto& file : files_named(folder, name)) {
    append_cifar10(file, kAnyLabel, split);
  }
  return split.count();
}

// The names that come with the set, one a line, if they do.
std::vector<std::string> cifar_names(const fs::path& folder) {
  constexpr std::size_t kClasses = 10;
  std::vector<std::string> names;
  std::ifstream file(folder / "batches.meta.txt");
  for (std::string line; names.size() < kClasses && std::getline(file, line);) {
    if (!line.empty()) {
      names.push_back(line);
    }
  }
  return names.size() == kClasses ? names : numbered(kClasses);
}

// Sums of one split.
class Sums {
 public:
  explicit Sums(const ExampleShape& shape) : shape_(shape), sums_(shape.channels), squares_(shape.channels) {}

  void add(std::span<const float> features) {
    const std::size_t plane = features.size() / shape_.channels;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const auto value = static_cast<std::uint64_t>(features[i] * 255.0F + 0.5F);  // the byte that it was
      sums_[i / plane] += value;
      squares_[i / plane] += value * value;
    }
    pixels_ += plane;
  }
  void tell(SplitFacts& facts) const {
    constexpr double kWhite = 255;
    for (std::size_t channel = 0; channel < sums_.size(); ++channel) {
      const auto count = static_cast<double>(std::max<std::uint64_t>(pixels_, 1));
      const double mean = static_cast<double>(sums_[channel]) / count;
      const double square = static_cast<double>(squares_[channel]) / count;
      facts.mean.push_back(mean / kWhite);
      facts.deviation.push_back(std::sqrt(std::max(0.0, square - mean * mean)) / kWhite);
    }
  }

 private:
  const ExampleShape& shape_;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint64_t> squares_;
  std::uint64_t pixels_ = 0;
};

SplitFacts look_at(const Dataset& dataset, DataSplit split) {
  SplitFacts facts;
  facts.by_class.resize(dataset.shape().classes);
  Sums sums(dataset.shape());
  SlotExamples example(dataset.shape(), 1);
  for (std::uint32_t i = 0; i < dataset.size(split); ++i) {
    ++facts.by_class[static_cast<std::size_t>(dataset.label(split, i))];
    try {
      dataset.read(split, i, example.room(0));
      sums.add(example.features);
    } catch (const std::runtime_error& error) {
      facts.corrupt.add(error.what());
    }
  }
  sums.tell(facts);
  return facts;
}

struct DataFacts {
  SplitFacts train;
  SplitFacts test;
};

DataFacts look_at(const DataSpec& spec) {
  DataSpec plain = spec;
  plain.corrupt = "fatal";
  plain.cache_mb = kMegabytes;
  const auto dataset = open_dataset(plain, "");
  return {look_at(*dataset, DataSplit::train), look_at(*dataset, DataSplit::test)};
}

std::string decimals(const std::vector<double>& numbers) {
  std::string all;
  for (const auto number : numbers) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6f", number);
    all += (all.empty() ? "" : ", ") + std::string(text.data());
  }
  return "[" + all + "]";
}

void tell_shape(const DataSpec& spec, SectionText& section) {
  if (spec.name == "idx") {
    section.text("train_labels", spec.train_labels);
    section.text("test_labels", spec.test_labels);
  }
  if (spec.name == "images") {
    section.number("channels", spec.channels);
  }
  if (spec.name != "cifar10") {
    section.number("height", spec.height);
    section.number("width", spec.width);
  }
}

void tell_normalisation(const SplitFacts& facts, SectionText& section) {
  constexpr double kLeast = 1e-6;  // that a job may say: of a channel that is the same everywhere
  auto deviation = facts.deviation;
  std::ranges::transform(deviation, deviation.begin(), [&](double x) { return std::max(x, kLeast); });
  section.raw("mean", decimals(facts.mean));
  section.raw("deviation", decimals(deviation));
}

}  // namespace

void describe_images(const DescribeOptions& options, DataSpec& spec) {
  const fs::path folder = spec.path;
  const ImageFiles train(folder / spec.train, kMegabytes * 1'000'000);
  const ImageFiles test(folder / spec.test, kMegabytes * 1'000'000);
  spec.classes = class_folders(train.files());
  const auto examples = spread_examples(train.files(), spec.classes, (folder / spec.train).string());
  spec.train_examples = static_cast<std::uint32_t>(examples.size());
  spec.test_examples =
      static_cast<std::uint32_t>(spread_examples(test.files(), spec.classes, (folder / spec.test).string()).size());
  std::optional<Image> first;
  for (std::size_t i = 0; i < examples.size() && !first; ++i) {
    try {
      first = decode_image(train.bytes(train.files()[examples[i].file]));
    } catch (const BadImage&) {
      continue;  // told when everything is read
    }
  }
  if (!first) {
    throw std::runtime_error((folder / spec.train).string() +
                             ": holds no image that can be decoded; if these are texts, say --as text");
  }
  spec.channels = options.channels > 0 ? options.channels : first->channels;
  spec.height = options.height > 0 ? options.height : first->height;
  spec.width = options.width > 0 ? options.width : first->width;
}

Description describe_pixels(const DescribeOptions& options, DataSpec spec) {
  const fs::path folder = spec.path;
  if (spec.name == "idx") {
    describe_idx(folder, spec);
  } else if (spec.name == "cifar10") {
    spec.train_examples = count_records(folder, spec.train);
    spec.test_examples = count_records(folder, spec.test);
    spec.classes = cifar_names(folder);
  } else {
    describe_images(options, spec);
  }
  const auto facts = look_at(spec);
  SectionText section(spec);
  section.list("classes", spec.classes);
  tell_shape(spec, section);
  section.comment(class_counts("train", spec.classes, facts.train.by_class, facts.train.corrupt.count()));
  section.number("train_examples", spec.train_examples);
  section.comment(class_counts("test", spec.classes, facts.test.by_class, facts.test.corrupt.count()));
  section.number("test_examples", spec.test_examples);
  if (options.normalise) {
    tell_normalisation(facts.train, section);
  }
  auto corrupt = facts.train.corrupt.texts();
  std::ranges::copy(facts.test.corrupt.texts(), std::back_inserter(corrupt));
  if (!corrupt.empty()) {
    section.raw("corrupt", "skip");
  }
  return {section.yaml(), corrupt};
}

}  // namespace ballast
