// Images of a user's own.
#include <array>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/job/model_parameters.h"
#include "worker/data/byte_source.h"
#include "worker/data/idx.h"
#include "worker/data/image_files.h"
#include "worker/data/images/decode_resized.h"
#include "worker/data/normalise.h"
#include "worker/data/unlabelled/examples_stream.h"
#include "worker/data/unlabelled/file_feed.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// Idx files of bytes.
bool is_idx(const fs::path& path) {
  constexpr std::array<std::uint8_t, 3> kIdx = {0, 0, 0x08};
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return false;
  }
  std::array<std::uint8_t, kIdx.size()> bytes{};
  return ByteSource(path).read(bytes) == bytes.size() && bytes == kIdx;
}

class ImageFileStream : public ExampleStream {
 public:
  ImageFileStream(const DataSpec& spec, const fs::path& input)
      : input_(input.string()),
        shape_(example_shape(spec)),
        normalisation_(normalisation_of(spec)),
        feed_(feed_files(input, kMaxImageFile)),
        pixels_(shape_.features()) {}

  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    while (auto file = feed_->next()) {
      const auto bytes = std::span(reinterpret_cast<const std::uint8_t*>(file->bytes.data()), file->bytes.size());
      if (file->path != input_ && !looks_like_image(file->path) && !is_image(bytes)) {
        ++passed_over_;
        continue;
      }
      if (file->fault.empty()) {
        file->fault = read(bytes, room);
      }
      return StreamedExample{std::move(file->path), std::move(file->fault)};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t passed_over() const override { return passed_over_; }

 private:
  // What is wrong; empty if nothing is.
  std::string read(std::span<const std::uint8_t> bytes, const ExampleRoom& room) {
    try {
      decode_resized(bytes, shape_, pixels_);
    } catch (const BadImage& bad) {
      return image_fault(bad);
    }
    normalisation_.apply(pixels_, room.features);
    return {};
  }

  std::string input_;  // an example whatever its name
  ExampleShape shape_;
  Normalisation normalisation_;
  std::unique_ptr<FileFeed> feed_;
  std::vector<std::uint8_t> pixels_;
  std::uint64_t passed_over_ = 0;
};

class IdxStream : public ExampleStream {
 public:
  IdxStream(const DataSpec& spec, const fs::path& input)
      : input_(input.string()), shape_(example_shape(spec)), normalisation_(normalisation_of(spec)) {
    if (shape_.channels != 1) {
      throw std::runtime_error(input_ + ": an idx file holds images of one channel; the job's have " +
                               std::to_string(shape_.channels));
    }
    images_ = read_idx(input, {std::nullopt, shape_.height, shape_.width});
  }
  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    if (at_ == images_.dimensions[0]) {
      return std::nullopt;
    }
    const auto pixels = shape_.features();
    normalisation_.apply(std::span(images_.values).subspan(at_ * pixels, pixels), room.features);
    return StreamedExample{input_ + "[" + std::to_string(at_++) + "]"};
  }

 private:
  std::string input_;
  ExampleShape shape_;
  Normalisation normalisation_;
  IdxArray images_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ExampleStream> stream_images(const DataSpec& spec, const fs::path& input) {
  if (is_idx(input)) {
    return std::make_unique<IdxStream>(spec, input);
  }
  return std::make_unique<ImageFileStream>(spec, input);
}

}  // namespace ballast
