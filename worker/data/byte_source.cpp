#include "worker/data/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "worker/data/failures.h"

namespace ballast {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 16U;
constexpr std::array<std::uint8_t, 2> kGzipMagic = {0x1f, 0x8b};
constexpr int kGzipOnly = 16 + MAX_WBITS;

void require_regular(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw_unread(path.string() + ": cannot be opened: " + (error ? error.message() : "no such file"),
                 error ? error : std::make_error_code(std::errc::no_such_file_or_directory));
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw std::runtime_error(path.string() + ": is not a regular file; name a plain or gzip-compressed file");
  }
}

}  // namespace

struct ByteSource::Impl {
  explicit Impl(const std::filesystem::path& file) : path(file) {
    require_regular(path);
    errno = 0;
    stream.open(path, std::ios::binary);
    if (!stream) {
      const int error = errno != 0 ? errno : EIO;
      throw_unread(path.string() + ": cannot be opened: " + std::strerror(error), {error, std::generic_category()});
    }
    refill();
    compressed = at_gzip_member();
    if (compressed && inflateInit2(&inflater, kGzipOnly) != Z_OK) {
      throw ReadFailure(path.string() + ": zlib could not be started (out of memory)");
    }
  }
  ~Impl() {
    if (compressed) {
      inflateEnd(&inflater);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Makes at least two bytes available in `window` if the file has as many; keeps unread ones.
  void refill() {
    if (available() >= kGzipMagic.size()) {
      return;
    }
    std::copy(window.begin() + static_cast<std::ptrdiff_t>(begin), window.begin() + static_cast<std::ptrdiff_t>(end),
              window.begin());
    end -= begin;
    begin = 0;
    stream.read(reinterpret_cast<char*>(window.data() + end), static_cast<std::streamsize>(kWindow - end));
    if (stream.bad()) {
      throw ReadFailure(path.string() + ", byte " + std::to_string(file_offset) +
                        " of the file: reading failed; check the disk");
    }
    end += static_cast<std::size_t>(stream.gcount());
    file_offset += static_cast<std::uint64_t>(stream.gcount());
  }
  [[nodiscard]] std::size_t available() const { return end - begin; }
  [[nodiscard]] bool at_gzip_member() const {
    return available() >= kGzipMagic.size() && window[begin] == kGzipMagic[0] && window[begin + 1] == kGzipMagic[1];
  }
  [[noreturn]] void fail_compressed(const std::string& what) const {
    throw std::runtime_error(path.string() + ", byte " + std::to_string(file_offset - available()) +
                             " of the compressed file: " + what + "; fetch the file again");
  }

  std::size_t read_plain(std::span<std::uint8_t> bytes) {
    std::size_t got = 0;
    while (got < bytes.size()) {
      refill();
      const std::size_t part = std::min(available(), bytes.size() - got);
      if (part == 0) {
        break;
      }
      std::memcpy(bytes.data() + got, window.data() + begin, part);
      begin += part;
      got += part;
    }
    return got;
  }

  std::size_t read_compressed(std::span<std::uint8_t> bytes) {
    std::size_t got = 0;
    while (got < bytes.size() && !finished) {
      refill();
      if (available() == 0) {
        fail_compressed("the gzip stream is cut short");
      }
      got += inflate_some(bytes.subspan(got));
    }
    return got;
  }

  std::size_t inflate_some(std::span<std::uint8_t> bytes) {
    const std::size_t space = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30U);
    inflater.next_in = window.data() + begin;
    inflater.avail_in = static_cast<uInt>(available());
    inflater.next_out = bytes.data();
    inflater.avail_out = static_cast<uInt>(space);
    const int outcome = inflate(&inflater, Z_NO_FLUSH);
    begin = end - inflater.avail_in;
    if (outcome == Z_STREAM_END) {
      next_member();
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      fail_compressed(std::string("the gzip stream is damaged (") +
                      (inflater.msg != nullptr ? inflater.msg : zError(outcome)) + ")");
    }
    return space - inflater.avail_out;
  }

  // A gzip file is a sequence of members; nothing else may follow.
  void next_member() {
    refill();
    if (available() == 0) {
      finished = true;
      return;
    }
    if (!at_gzip_member() || inflateReset(&inflater) != Z_OK) {
      fail_compressed("bytes that are no gzip member follow the end of the stream");
    }
  }

  std::filesystem::path path;
  std::ifstream stream;
  std::array<std::uint8_t, kWindow> window{};
  std::size_t begin = 0;  // unread bytes of the window: [begin, end)
  std::size_t end = 0;
  std::uint64_t file_offset = 0;  // of the window's end in the file
  std::uint64_t offset = 0;       // of the content
  bool compressed = false;
  bool finished = false;  // the last gzip member has ended
  z_stream inflater{};
};

ByteSource::ByteSource(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}

ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(std::span<std::uint8_t> bytes) {
  const std::size_t got = impl_->compressed ? impl_->read_compressed(bytes) : impl_->read_plain(bytes);
  impl_->offset += got;
  return got;
}

bool ByteSource::is_compressed() const { return impl_->compressed; }

std::uint64_t ByteSource::offset() const { return impl_->offset; }

void ByteSource::fail(std::uint64_t offset, const std::string& what) const {
  throw std::runtime_error(impl_->path.string() + ", byte " + std::to_string(offset) + ": " + what);
}

}  // namespace ballast
