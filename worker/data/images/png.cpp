// PNG by libpng. Its errors come by longjmp: between setjmp and the calls into it no object is made that would have to
// be destroyed; all that is needed lives in PngReader.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/images/decode.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMostInflated = 1032;                         // bytes that deflate makes of one at most
constexpr png_alloc_size_t kChunkBytes = png_alloc_size_t{8} << 20U;  // of a chunk that is no image data

class PngReader {
 public:
  explicit PngReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Image read() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      throw std::bad_alloc();
    }
    if (!read_header() || !make_room() || !read_pixels()) {
      throw BadImage(at_, why_);
    }
    return std::move(image_);
  }

 private:
  static PngReader& of(png_structp png) { return *static_cast<PngReader*>(png_get_error_ptr(png)); }
  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    std::strncpy(of(png).error_, text, sizeof(error_) - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep to, std::size_t size) {
    auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > reader.bytes_.size() - reader.at_) {
      reader.at_ = reader.bytes_.size();
      png_error(png, "the file is cut short");
    }
    std::memcpy(to, reader.bytes_.data() + reader.at_, size);
    reader.at_ += size;
  }
  bool failed() {
    why_ = std::string(at_ == bytes_.size() ? "" : "the PNG is damaged: ") + error_;
    return false;
  }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) {  // NOLINT: libpng's way
      return failed();
    }
    png_set_benign_errors(png_, 0);  // a wrong checksum of the pixels is an error
    png_set_chunk_malloc_max(png_, kChunkBytes);
    png_set_read_fn(png_, this, on_read);
    png_read_info(png_, info_);
    png_set_palette_to_rgb(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY) {
      png_set_expand_gray_1_2_4_to_8(png_);
    }
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  // A header may claim what it likes: nothing is allocated that the bytes of the file could not fill.
  bool make_room() {
    image_.width = png_get_image_width(png_, info_);
    image_.height = png_get_image_height(png_, info_);
    image_.channels = png_get_channels(png_, info_);
    const auto pixels = std::uint64_t{image_.width} * image_.height;
    if (pixels > kMaxPixels) {
      why_ = std::to_string(image_.width) + " x " + std::to_string(image_.height) + " pixels are more than the " +
             std::to_string(kMaxPixels) + " that are decoded";
      return false;
    }
    const auto depth = std::uint64_t{1};  // bits of the smallest pixel
    if (pixels * depth / 8 > bytes_.size() * kMostInflated) {
      why_ = "the file is too short for " + std::to_string(image_.width) + " x " + std::to_string(image_.height) +
             " pixels";
      at_ = bytes_.size();
      return false;
    }
    if ((image_.channels != 1 && image_.channels != 3) || png_get_rowbytes(png_, info_) != image_.row_bytes()) {
      why_ = "its kind of pixels is not known";
      return false;
    }
    image_.pixels.resize(image_.height * image_.row_bytes());
    return true;
  }

  bool read_pixels() {
    if (setjmp(png_jmpbuf(png_)) != 0) {  // NOLINT: libpng's way
      return failed();
    }
    for (int pass = 0; pass < passes_; ++pass) {
      for (std::uint32_t y = 0; y < image_.height; ++y) {
        png_read_row(png_, image_.pixels.data() + y * image_.row_bytes(), nullptr);
      }
    }
    png_read_end(png_, nullptr);
    return true;
  }

  const std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  Image image_;
  char error_[128] = {};  // NOLINT: filled where nothing may be allocated
  std::string why_;
};

}  // namespace

Image decode_png(std::span<const std::uint8_t> bytes) { return PngReader(bytes).read(); }

}  // namespace ballast
