#include "cli/data/describe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>

#include "common/job/model_parameters.h"
#include "common/job/words.h"
#include "common/job/yaml_tree.h"
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

bool is_archive(const std::string& name) {
  return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz");
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename());
  }
  if (error) {
    throw std::runtime_error(folder.string() + ": cannot be looked into: " + error.message());
  }
  std::ranges::sort(names);
  return names;
}

// The usual names of a split's files; empty where the folder has none.
class Names {
 public:
  explicit Names(const std::string& folder) : folder_(folder), names_(names_in(folder)) {}

  // NAME or NAME.gz.
  [[nodiscard]] std::string file(const std::string& name) const {
    return has(name) ? name : has(name + ".gz") ? name + ".gz" : "";
  }
  // All that begin so, by a star if there are several.
  [[nodiscard]] std::string records(const std::string& beginning) const {
    std::vector<std::string> found;
    std::ranges::copy_if(names_, std::back_inserter(found), [&](const std::string& name) {
      return name.starts_with(beginning) && (name.ends_with(".bin") || name.ends_with(".bin.gz"));
    });
    if (found.size() < 2) {
      return found.empty() ? "" : found[0];
    }
    return beginning + (found[0].ends_with(".gz") ? "*.bin.gz" : "*.bin");
  }
  // The one folder or archive with this word in its name.
  [[nodiscard]] std::string tree(const std::string& word) const {
    std::string found;
    for (const auto& name : names_) {
      if (name.find(word) != std::string::npos && is_tree(name)) {
        if (!found.empty()) {
          return {};
        }
        found = name;
      }
    }
    return found;
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const { return std::ranges::binary_search(names_, name); }
  [[nodiscard]] bool is_tree(const std::string& name) const {
    std::error_code ignored;
    return is_archive(name) || fs::is_directory(fs::path(folder_) / name, ignored);
  }

  std::string folder_;
  std::vector<std::string> names_;
};

DataSpec usual_files(const Names& names, const std::string& kind) {
  DataSpec spec;
  spec.name = kind;
  if (kind == "idx") {
    spec.train = names.file("train-images-idx3-ubyte");
    spec.train_labels = names.file("train-labels-idx1-ubyte");
    spec.test = names.file("t10k-images-idx3-ubyte");
    spec.test_labels = names.file("t10k-labels-idx1-ubyte");
  } else if (kind == "cifar10") {
    spec.train = names.records("data_batch");
    spec.test = names.records("test_batch");
  } else {
    spec.train = names.tree("train");
    spec.test = names.tree("test");
  }
  return spec;
}

bool is_whole(const DataSpec& spec) {
  return !spec.train.empty() && !spec.test.empty() &&
         (spec.name != "idx" || (!spec.train_labels.empty() && !spec.test_labels.empty()));
}

// Named files must say what they are.
DataSpec find_files(const DescribeOptions& options) {
  const Names names(options.folder);
  for (const std::string kind : {"idx", "cifar10", "images"}) {
    auto spec = usual_files(names, options.kind.empty() ? kind : options.kind);
    for (const auto& [given, target] :
         {std::pair(&options.train, &spec.train), std::pair(&options.train_labels, &spec.train_labels),
          std::pair(&options.test, &spec.test), std::pair(&options.test_labels, &spec.test_labels)}) {
      *target = given->empty() ? *target : *given;
    }
    if (is_whole(spec)) {
      return spec;
    }
  }
  throw std::runtime_error(
      options.folder +
      ": no files of a data set are known by their names here: train-images-idx3-ubyte and the other three (idx), "
      "data_batch*.bin and test_batch.bin (cifar10), or one folder or archive with 'train' and one with 'test' in its "
      "name (images); say what they are with --as, --train, --test and, for idx, --train-labels, --test-labels");
}

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

void describe_images(const DescribeOptions& options, const fs::path& folder, DataSpec& spec) {
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
    throw std::runtime_error((folder / spec.train).string() + ": holds no image that can be decoded");
  }
  spec.channels = options.channels > 0 ? options.channels : first->channels;
  spec.height = options.height > 0 ? options.height : first->height;
  spec.width = options.width > 0 ? options.width : first->width;
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
      facts.corrupt.emplace_back(error.what());
    }
  }
  sums.tell(facts);
  return facts;
}

std::string list(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) {
    all += (all.empty() ? "" : ", ") + yaml_quoted(text);
  }
  return "[" + all + "]";
}

std::string list(const std::vector<double>& numbers) {
  std::string all;
  for (const auto number : numbers) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6f", number);
    all += (all.empty() ? "" : ", ") + std::string(text.data());
  }
  return "[" + all + "]";
}

std::string counts(const char* name, const DataSpec& spec, const SplitFacts& facts) {
  std::string text = std::string("  # ") + name + ":";
  for (std::size_t i = 0; i < facts.by_class.size(); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(facts.by_class[i]) + " " + spec.classes[i];
  }
  return text + (facts.corrupt.empty() ? "" : "; " + std::to_string(facts.corrupt.size()) + " corrupt") + "\n";
}

}  // namespace

DataSpec describe(const DescribeOptions& options) {
  auto spec = find_files(options);
  const fs::path folder = fs::absolute(options.folder);
  spec.path = folder;
  if (spec.name == "idx") {
    describe_idx(folder, spec);
  } else if (spec.name == "cifar10") {
    spec.train_examples = count_records(folder, spec.train);
    spec.test_examples = count_records(folder, spec.test);
    spec.classes = cifar_names(folder);
  } else {
    describe_images(options, folder, spec);
  }
  return spec;
}

DataFacts look_at(const DataSpec& spec) {
  DataSpec plain = spec;
  plain.mean.clear();
  plain.deviation.clear();
  plain.corrupt = "fatal";
  plain.cache_mb = kMegabytes;
  const auto dataset = open_dataset(plain, "");
  return {look_at(*dataset, DataSplit::train), look_at(*dataset, DataSplit::test)};
}

std::string data_section(const DataSpec& spec, const DataFacts& facts) {
  std::string text = "data:\n  name: " + spec.name + "\n  path: " + yaml_quoted(spec.path) +
                     "\n  train: " + yaml_quoted(spec.train) + "\n  test: " + yaml_quoted(spec.test) +
                     "\n  classes: " + list(spec.classes) + "\n";
  if (spec.name == "idx") {
    text += "  train_labels: " + yaml_quoted(spec.train_labels) + "\n  test_labels: " + yaml_quoted(spec.test_labels) +
            "\n";
  }
  if (spec.name == "images") {
    text += "  channels: " + std::to_string(spec.channels) + "\n";
  }
  if (spec.name != "cifar10") {
    text += "  height: " + std::to_string(spec.height) + "\n  width: " + std::to_string(spec.width) + "\n";
  }
  text += counts("train", spec, facts.train) + "  train_examples: " + std::to_string(spec.train_examples) + "\n" +
          counts("test", spec, facts.test) + "  test_examples: " + std::to_string(spec.test_examples) + "\n";
  if (!spec.mean.empty()) {
    text += "  mean: " + list(spec.mean) + "\n  deviation: " + list(spec.deviation) + "\n";
  }
  if (!facts.train.corrupt.empty() || !facts.test.corrupt.empty()) {
    text += "  corrupt: skip\n";
  }
  return text;
}

int describe_data(const DescribeOptions& options) {
  auto spec = describe(options);
  const auto facts = look_at(spec);
  if (options.normalise) {
    constexpr double kLeast = 1e-6;  // that a job may say: of a channel that is the same everywhere
    spec.mean = facts.train.mean;
    spec.deviation = facts.train.deviation;
    std::ranges::transform(spec.deviation, spec.deviation.begin(), [&](double x) { return std::max(x, kLeast); });
  }
  for (const auto* split : {&facts.train, &facts.test}) {
    for (const auto& text : split->corrupt) {
      std::fprintf(stderr, "corrupt: %s\n", text.c_str());
    }
  }
  std::fputs(data_section(spec, facts).c_str(), stdout);
  return 0;
}

}  // namespace ballast
