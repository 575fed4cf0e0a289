#include "common/safetensors/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "common/safetensors/widen.h"

namespace ballast::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are read as they lie in the file");

constexpr std::size_t kBlock = 1U << 16;  // elements of a shorter type that are widened at once

void widen(std::span<const std::byte> bytes, bool bf16, float* out) {
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, sizeof(bits));
    out[i] = bf16 ? widen_bf16(bits) : widen_f16(bits);
  }
}

}  // namespace

class Reader::File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

StoreResult<Reader> Reader::open(const std::filesystem::path& path) {
  Reader reader;
  reader.path_ = path.string();
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return StoreStatus{errno == ENOENT ? StoreCode::missing : StoreCode::io,
                       reader.path_ + ": cannot be opened: " + std::strerror(errno)};
  }
  reader.file_ = std::make_shared<File>(descriptor);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) {
    return StoreStatus{StoreCode::io, reader.path_ + ": " + std::strerror(errno)};
  }
  if (!S_ISREG(facts.st_mode)) {
    return StoreStatus{StoreCode::mismatch, reader.path_ + ": is no file; name a .safetensors file"};
  }
  reader.size_ = static_cast<std::uint64_t>(facts.st_size);
  if (auto status = reader.read_header(); !status.ok()) {
    return status;
  }
  return reader;
}

StoreStatus Reader::read_header() {
  const auto refuse = [this](const std::string& what) {
    return StoreStatus{StoreCode::corrupt, path_ + ": no safetensors file, or a damaged one: " + what};
  };
  if (size_ < kSizeBytes) {
    return refuse("it has " + std::to_string(size_) + " bytes; even an empty one has more than 8");
  }
  std::uint64_t header_bytes = 0;
  if (auto status = read_bytes(0, std::as_writable_bytes(std::span(&header_bytes, 1))); !status.ok()) {
    return status;
  }
  if (header_bytes > size_ - kSizeBytes || header_bytes > kMaxHeaderBytes) {
    return refuse("its header claims " + std::to_string(header_bytes) + " bytes; " +
                  std::to_string(std::min(size_ - kSizeBytes, kMaxHeaderBytes)) + " are the most it may have");
  }
  std::string text(header_bytes, '\0');
  if (auto status = read_bytes(kSizeBytes, std::as_writable_bytes(std::span(text))); !status.ok()) {
    return status;
  }
  data_begin_ = kSizeBytes + header_bytes;
  auto header = parse_header(text, size_ - data_begin_);
  if (!header.ok()) {
    return refuse(header.status().text());
  }
  header_ = std::move(header.value());
  return {};
}

StoreStatus Reader::read_bytes(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got =
        ::pread(file_->descriptor(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return {StoreCode::io, path_ + ", byte " + std::to_string(offset + done) + ": " + std::strerror(errno)};
    }
    if (got == 0) {
      return {StoreCode::corrupt, path_ + ": ends at byte " + std::to_string(offset + done) +
                                      ": somebody has cut it short since it was opened"};
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

StoreStatus Reader::read(const Tensor& tensor, std::uint64_t first, std::span<float> out) const {
  if (!is_readable(tensor.dtype)) {
    return {StoreCode::mismatch, path_ + ": tensor '" + tensor.name + "' is of type " + tensor.dtype +
                                     "; F32, F16 and BF16 are read: convert it"};
  }
  if (first > tensor.elements() || out.size() > tensor.elements() - first) {
    return {StoreCode::mismatch, path_ + ": tensor '" + tensor.name + "' has " + std::to_string(tensor.elements()) +
                                     " elements, fewer than were asked for"};
  }
  const auto begin = data_begin_ + tensor.begin;
  if (tensor.dtype == "F32") {
    return read_bytes(begin + first * sizeof(float), std::as_writable_bytes(out));
  }
  std::vector<std::byte> block(std::min(out.size(), kBlock) * 2);
  for (std::size_t done = 0; done < out.size(); done += kBlock) {
    const auto bytes = std::span(block).first(std::min(kBlock, out.size() - done) * 2);
    if (auto status = read_bytes(begin + (first + done) * 2, bytes); !status.ok()) {
      return status;
    }
    widen(bytes, tensor.dtype == "BF16", out.data() + done);
  }
  return {};
}

}  // namespace ballast::safetensors
