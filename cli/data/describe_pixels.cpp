// `ballast data describe` of images: idx files, CIFAR-10's records, folders and archives.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cli/data/class_order.h"
#include "cli/data/described_images.h"
#include "cli/data/described_kinds.h"
#include "cli/data/folder_warnings.h"
#include "cli/data/portable_yaml.h"
#include "cli/data/section_text.h"
#include "cli/data/split_facts.h"
#include "common/job/model_parameters.h"
#include "common/job/words.h"
#include "worker/data/cifar10.h"
#include "worker/data/class_files.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/idx.h"
#include "worker/data/image_files.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMegabyte = 1'000'000;

struct DataFacts {
  SplitFacts train;
  SplitFacts test;
};

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(std::to_string(i));
  }
  return names;
}

void describe_idx(const fs::path& folder, DataSpec& spec) {
  const auto images = read_idx(folder / spec.train, {std::nullopt, std::nullopt, std::nullopt}).dimensions;
  const auto train = read_idx(folder / spec.train_labels, {std::nullopt});
  const auto test = read_idx(folder / spec.test_labels, {std::nullopt});
  spec.height = images[1];
  spec.width = images[2];
  spec.train_examples = train.dimensions[0];
  spec.test_examples = test.dimensions[0];
  for (const auto& [labels, name] : {std::pair(&train, spec.train_labels), std::pair(&test, spec.test_labels)}) {
    if (labels->values.empty()) {
      throw std::runtime_error((folder / name).string() + ": holds no label; name another file");
    }
  }
  const std::size_t last = std::max(*std::ranges::max_element(train.values), *std::ranges::max_element(test.values));
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
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (!line.empty()) {
      names.push_back(line);
    }
  }
  return names.size() == kClasses ? names : numbered(kClasses);
}

// Of a set that a worker holds as bytes.
SplitFacts look_at_split(const Dataset& dataset, DataSplit split) {
  SplitFacts facts;
  facts.by_class.resize(dataset.shape().classes);
  PixelSums sums(dataset.shape().channels);
  SlotExamples example(dataset.shape(), 1);
  std::vector<std::uint8_t> pixels(dataset.shape().features());
  for (std::uint32_t i = 0; i < dataset.size(split); ++i) {
    ++facts.by_class[static_cast<std::size_t>(dataset.label(split, i))];
    dataset.read(split, i, example.room(0));
    std::ranges::transform(example.features, pixels.begin(), [](float value) {
      return static_cast<std::uint8_t>(value * 255.0F + 0.5F);  // the byte that it was
    });
    sums.add(pixels);
  }
  facts.readable = facts.by_class;
  sums.tell(facts);
  return facts;
}

DataFacts look_at_bytes(const DataSpec& spec) {
  const auto dataset = open_dataset(spec, "");
  return {look_at_split(*dataset, DataSplit::train), look_at_split(*dataset, DataSplit::test)};
}

// Nine significant digits of a float read back as the same float, by way of a double, too: a job with these numbers
// normalises as one with the numbers that were computed.
std::string float_digits(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(static_cast<float>(number)));
  return portable_number(text.data());
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
  constexpr float kLeast = 1e-6F;  // that a job may say: of a channel that is the same everywhere
  std::vector<std::string> means;
  std::vector<std::string> deviations;
  for (std::size_t channel = 0; channel < facts.mean.size(); ++channel) {
    const auto deviation = facts.deviation[channel];
    means.push_back(float_digits(facts.mean[channel]));
    deviations.push_back(static_cast<float>(deviation) > kLeast ? float_digits(deviation) : "0.000001");
  }
  section.raw("mean", "[" + comma_list(means) + "]");
  section.raw("deviation", "[" + comma_list(deviations) + "]");
}

// Classes without examples, and one class alone, a job may have; it learns nothing of them.
std::vector<std::string> class_warnings(const std::vector<std::string>& classes, const SplitFacts& train) {
  std::vector<std::string> warnings;
  if (classes.size() == 1) {
    warnings.push_back("there is one class alone, " + shown(classes[0]) + ": nothing is to be told apart");
  }
  const auto empty = static_cast<std::size_t>(std::ranges::count(train.by_class, 0U));
  if (empty > 0) {
    const auto first = static_cast<std::size_t>(std::ranges::find(train.by_class, 0U) - train.by_class.begin());
    warnings.push_back(std::to_string(empty) + " of " + std::to_string(classes.size()) +
                       " classes have no example in the train split, the first of them " + shown(classes[first]));
  }
  return warnings;
}

// A worker takes another image of the class for one that is corrupt.
void require_readable(const DataSpec& spec, const std::string& split, const SplitFacts& facts) {
  for (std::size_t i = 0; i < facts.by_class.size(); ++i) {
    if (facts.by_class[i] > 0 && facts.readable[i] == 0) {
      throw std::runtime_error(spec.path + ": " + split + ": no image of class " + shown(spec.classes[i]) +
                               " can be decoded: " + facts.corrupt.texts()[0] + "; repair it, or take the class away");
    }
  }
}

void take_size(const DescribeOptions& options, const Image& first, const std::string& where, DataSpec& spec) {
  constexpr std::uint32_t kLongestSide = 4096;  // that a job may have
  if ((options.height == 0 && first.height > kLongestSide) || (options.width == 0 && first.width > kLongestSide)) {
    throw std::runtime_error(where + ": the first image has " + std::to_string(first.height) + " x " +
                             std::to_string(first.width) + " pixels, and those of a job at most " +
                             std::to_string(kLongestSide) + " a side; say --height and --width");
  }
  spec.channels = options.channels > 0 ? options.channels : first.channels;
  spec.height = options.height > 0 ? options.height : first.height;
  spec.width = options.width > 0 ? options.width : first.width;
}

DataFacts describe_images(const DescribeOptions& options, DataSpec& spec) {
  const fs::path folder = spec.path;
  const auto where = (folder / spec.train).string();
  const DescribedImages train(folder / spec.train);
  const DescribedImages test(folder / spec.test);
  spec.classes = in_class_order(class_folders(train.files()));
  if (spec.classes.empty()) {
    const auto aside = fs::is_directory(where) ? left_aside(where) : LeftAside();
    throw std::runtime_error(
        where + ": no folder in it holds a .png, .jpg or .jpeg file; images lie in one folder a class" +
        (aside.nested.count == 0 ? std::string() : ", and not in folders within it as " + aside.nested.first) +
        ". If these are texts, say --as text");
  }
  const auto train_examples = spread_examples(train.files(), spec.classes, where);
  const auto test_examples =
      spread_examples(test.files(), spec.classes, (folder / spec.test).string(), EmptyClasses::allowed);
  spec.train_examples = static_cast<std::uint32_t>(train_examples.size());
  spec.test_examples = static_cast<std::uint32_t>(test_examples.size());
  spec.cache_mb = (train.held_by_workers() + test.held_by_workers() + kMegabyte - 1) / kMegabyte;
  const auto first = train.first(train_examples);
  if (!first) {
    throw std::runtime_error(where + ": holds no image that can be decoded; if these are texts, say --as text");
  }
  take_size(options, *first, where, spec);
  DataFacts facts{train.look_at(spec, train_examples), test.look_at(spec, test_examples)};
  require_readable(spec, spec.train, facts.train);
  require_readable(spec, spec.test, facts.test);
  return facts;
}

// Of a split of images: what is no example, and what is one against all likelihood.
void warn_of_files(const fs::path& folder, const std::string& split, const std::vector<std::string>& classes,
                   const SplitFacts& facts, std::vector<std::string>& warnings) {
  const auto take = [&](const std::vector<std::string>& texts) {
    std::ranges::copy(texts, std::back_inserter(warnings));
  };
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (facts.by_class[i] == 0) {
      warnings.push_back(split + ": no image of class " + shown(classes[i]) +
                         ", so that evaluations will not tell how well it is known");
    }
  }
  take(empty_folder_warnings(folder / split, classes));
  take(aside_warnings(split, facts.aside));
  take(counted_warning(split, facts.no_images, "files that are no images by name or content, but count as examples",
                       "take them away: a job reads each file of a class's folder, unless its name begins with a dot, "
                       "and puts another image of the class in place of what is none (data.corrupt: skip)"));
}

DataFacts facts_of(const DescribeOptions& options, DataSpec& spec) {
  const fs::path folder = spec.path;
  if (spec.name == "images") {
    return describe_images(options, spec);
  }
  if (spec.name == "idx") {
    describe_idx(folder, spec);
  } else {
    spec.train_examples = count_records(folder, spec.train);
    spec.test_examples = count_records(folder, spec.test);
    spec.classes = cifar_names(folder);
  }
  return look_at_bytes(spec);
}

}  // namespace

Description describe_pixels(const DescribeOptions& options, DataSpec spec) {
  const fs::path folder = spec.path;
  const auto facts = facts_of(options, spec);
  Description found{.section = {},
                    .corrupt = texts_of(facts.train.corrupt, facts.test.corrupt),
                    .warnings = class_warnings(spec.classes, facts.train)};
  if (spec.name == "images") {
    warn_of_files(folder, spec.train, spec.classes, facts.train, found.warnings);
    warn_of_files(folder, spec.test, spec.classes, facts.test, found.warnings);
  }
  SectionText section(spec);
  section.list("classes", spec.classes);
  tell_shape(spec, section);
  section.comment(class_counts("train", spec.classes, facts.train.by_class, facts.train.corrupt.count()));
  section.examples("train", spec.train_examples);
  section.comment(class_counts("test", spec.classes, facts.test.by_class, facts.test.corrupt.count()));
  section.examples("test", spec.test_examples);
  if (options.normalise) {
    tell_normalisation(facts.train, section);
  }
  if (spec.name == "images" && spec.cache_mb > DataSpec().cache_mb) {
    section.comment("the archives' content, which each worker holds: unpacked with gunzip it is read where it lies");
    section.number("cache_mb", spec.cache_mb);
  }
  section.corrupt(found.corrupt);
  found.section = section.yaml();
  return found;
}

}  // namespace ballast
