// JPEG by libjpeg-turbo, with its exact integer transform. Its errors come by longjmp: between setjmp and the calls
// into it no object is made that would have to be destroyed; all that is needed lives in JpegReader.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
// after the headers that it needs:
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/images/decode.h"

namespace ballast {
namespace {

constexpr std::uint32_t kRowsAtOnce = 64;

class JpegReader {
 public:
  explicit JpegReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    state_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    state_.client_data = this;
    progress_.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&state_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Image read() {
    if (!read_header() || !check_header()) {
      throw BadImage(at(), why_);
    }
    if (!start()) {
      throw BadImage(at(), why_);
    }
    // Memory grows with what is really decoded.
    while (state_.output_scanline < state_.output_height) {
      const auto done = state_.output_scanline;
      const auto until = std::min(state_.output_height, std::max(2 * done, done + kRowsAtOnce));
      image_.pixels.resize(until * image_.row_bytes());
      if (!read_rows(until)) {
        throw BadImage(at(), why_);
      }
    }
    if (!finish()) {
      throw BadImage(at(), why_);
    }
    return std::move(image_);
  }

 private:
  static JpegReader& of(j_common_ptr state) { return *static_cast<JpegReader*>(state->client_data); }
  [[noreturn]] static void on_error(j_common_ptr state) {
    state->err->format_message(state, of(state).error_);
    std::longjmp(of(state).jump_, 1);
  }
  // Warnings tell of pixels that were made up; these few do not.
  static void on_message(j_common_ptr state, int level) {
    const int code = state->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR) {
      on_error(state);
    }
  }
  static void on_progress(j_common_ptr state) {
    auto& reader = of(state);
    const auto pixels = std::uint64_t{reader.state_.image_width} * reader.state_.image_height;
    if (static_cast<std::uint64_t>(reader.state_.input_scan_number) * pixels > kMaxPassedPixels) {
      std::snprintf(reader.error_, sizeof(error_), "too many passes over its pixels");
      std::longjmp(reader.jump_, 1);
    }
  }
  bool failed() {
    why_ = std::string("the JPEG is damaged: ") + error_;
    return false;
  }
  [[nodiscard]] std::uint64_t at() const {
    return state_.src == nullptr || !has_source_ ? 0
           : is_cut_short()                      ? bytes_.size()
                                                 : bytes_.size() - std::min(bytes_.size(), state_.src->bytes_in_buffer);
  }
  // libjpeg has put two bytes of its own behind the end.
  [[nodiscard]] bool is_cut_short() const {
    return state_.src->next_input_byte < bytes_.data() || state_.src->next_input_byte > bytes_.data() + bytes_.size() ||
           errors_.msg_code == JWRN_JPEG_EOF;
  }

  bool read_header() {
    if (setjmp(jump_) != 0) {  // NOLINT: libjpeg's way
      return failed();
    }
    jpeg_create_decompress(&state_);
    state_.progress = &progress_;
    jpeg_mem_src(&state_, bytes_.data(), static_cast<unsigned long>(bytes_.size()));  // NOLINT: its type
    has_source_ = true;
    jpeg_read_header(&state_, TRUE);
    return true;
  }

  bool check_header() {
    image_.width = state_.image_width;
    image_.height = state_.image_height;
    if (std::uint64_t{image_.width} * image_.height > kMaxPixels) {
      why_ = std::to_string(image_.width) + " x " + std::to_string(image_.height) + " pixels are more than the " +
             std::to_string(kMaxPixels) + " that are decoded";
      return false;
    }
    const auto colours = state_.jpeg_color_space;
    if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB) {
      why_ = "its colours are CMYK or others that are no RGB; convert it";
      return false;
    }
    image_.channels = colours == JCS_GRAYSCALE ? 1 : 3;
    return true;
  }

  bool start() {
    if (setjmp(jump_) != 0) {  // NOLINT: libjpeg's way
      return failed();
    }
    state_.out_color_space = image_.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    state_.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&state_);
    return true;
  }

  bool read_rows(std::uint32_t until) {
    if (setjmp(jump_) != 0) {  // NOLINT: libjpeg's way
      return failed();
    }
    while (state_.output_scanline < until) {
      JSAMPROW row = image_.pixels.data() + state_.output_scanline * image_.row_bytes();
      jpeg_read_scanlines(&state_, &row, 1);
    }
    return true;
  }

  bool finish() {
    if (setjmp(jump_) != 0) {  // NOLINT: libjpeg's way
      return failed();
    }
    jpeg_finish_decompress(&state_);
    return true;
  }

  const std::span<const std::uint8_t> bytes_;
  jpeg_decompress_struct state_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  bool has_source_ = false;
  Image image_;
  char error_[JMSG_LENGTH_MAX] = {};  // NOLINT: filled where nothing may be allocated
  std::string why_;
};

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes) { return JpegReader(bytes).read(); }

}  // namespace ballast
