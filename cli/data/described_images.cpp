#include "cli/data/described_images.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

#include "worker/data/byte_source.h"
#include "worker/data/class_files.h"
#include "worker/data/images/decode.h"
#include "worker/data/images/resize.h"

namespace ballast {
namespace {

bool is_compressed_archive(const std::filesystem::path& path) {
  std::error_code error;
  return !std::filesystem::is_directory(path, error) && ByteSource(path).is_compressed();
}

constexpr std::uint32_t kNoExample = std::numeric_limits<std::uint32_t>::max();

// By file: the place among the examples.
std::vector<std::uint32_t> places_of(const std::vector<ImageExample>& examples, std::size_t files) {
  std::vector<std::uint32_t> places(files, kNoExample);
  for (std::uint32_t i = 0; i < examples.size(); ++i) {
    places[examples[i].file] = i;
  }
  return places;
}

}  // namespace

DescribedImages::DescribedImages(const std::filesystem::path& path) : path_(path) {
  if (!is_compressed_archive(path)) {
    opened_ = std::make_unique<ImageFiles>(path, 0);
    return;
  }
  for_each_archived(path, [&](const ImageFile& file, std::span<const std::uint8_t> /*bytes*/) {
    listed_.push_back(file);
    held_ += file.size;
  });
  sort_image_files(path, listed_);
}

void DescribedImages::for_each(const Take& take) const {
  if (opened_) {
    for (std::size_t i = 0; i < files().size(); ++i) {
      take(i, opened_->bytes(files()[i]));
    }
    return;
  }
  std::unordered_map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    indices.emplace(listed_[i].path(), i);
  }
  for_each_archived(path_, [&](const ImageFile& file, std::span<const std::uint8_t> bytes) {
    const auto found = indices.find(file.path());
    if (found == indices.end()) {
      throw std::runtime_error(path_.string() + ": has changed since it was first looked at; look again");
    }
    take(found->second, bytes);
  });
}

std::string DescribedImages::where(std::size_t file) const { return image_where(path_, files()[file]); }

std::optional<Image> DescribedImages::first(const std::vector<ImageExample>& examples) const {
  const auto decoded = [](std::span<const std::uint8_t> bytes) -> std::optional<Image> {
    try {
      return decode_image(bytes);
    } catch (const BadImage&) {
      return std::nullopt;  // told when everything is read
    }
  };
  std::optional<Image> first;
  if (opened_) {
    for (std::size_t i = 0; i < examples.size() && !first; ++i) {
      first = decoded(opened_->bytes(files()[examples[i].file]));
    }
    return first;
  }
  // Files come in the archive's order: of those that stand before the best so far each is tried.
  const auto places = places_of(examples, files().size());
  auto best = kNoExample;
  for_each([&](std::size_t file, std::span<const std::uint8_t> bytes) {
    if (places[file] < best) {
      if (auto image = decoded(bytes)) {
        first = std::move(image);
        best = places[file];
      }
    }
  });
  return first;
}

SplitFacts DescribedImages::look_at(const DataSpec& spec, const std::vector<ImageExample>& examples) const {
  SplitFacts facts;
  facts.by_class.resize(spec.classes.size());
  facts.readable.resize(spec.classes.size());
  PixelSums sums(spec.channels);
  std::vector<std::uint8_t> pixels(std::size_t{spec.channels} * spec.height * spec.width);
  const auto places = places_of(examples, files().size());
  for_each([&](std::size_t file, std::span<const std::uint8_t> bytes) {
    if (places[file] == kNoExample) {
      return;
    }
    const auto label = examples[places[file]].label;
    ++facts.by_class[label];
    try {
      resize(with_channels(decode_image(bytes), spec.channels), spec.height, spec.width, pixels);
      sums.add(pixels);
      ++facts.readable[label];
    } catch (const BadImage& bad) {
      facts.corrupt.add(where(file) + ", byte " + std::to_string(bad.byte) + ": " + bad.what());
      if (!looks_like_image(files()[file].name)) {
        facts.no_images.add(where(file));
      }
    }
  });
  sums.tell(facts);
  if (std::error_code error; std::filesystem::is_directory(path_, error)) {
    facts.aside = left_aside(path_);
  }
  return facts;
}

}  // namespace ballast
