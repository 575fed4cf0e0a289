#include "common/safetensors/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ballast::safetensors {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

StoreResult<Writer> Writer::create(const std::filesystem::path& path, const std::vector<Declared>& tensors,
                                   Metadata metadata) {
  Header header{{}, std::move(metadata)};
  std::uint64_t end = 0;
  for (const auto& declared : tensors) {
    Tensor tensor{declared.name, "F32", declared.shape, end, end};
    end += tensor.elements() * sizeof(float);
    tensor.end = end;
    header.tensors.push_back(std::move(tensor));
  }
  const auto text = header_text(header);
  Writer writer;
  writer.path_ = path;
  std::error_code unknown;
  const auto there = std::filesystem::symlink_status(path, unknown);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    // The rename at the end would put a file in the place of a device, pipe or link (/dev/null, /dev/stdout).
    return StoreStatus{StoreCode::io,
                       path.string() + ": is a link or no regular file; name another, or one that is not there yet"};
  }
  writer.temporary_ = path.string() + ".part-" + std::to_string(::getpid());
  writer.left_ = end;
  writer.file_ = ::open(writer.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.file_ < 0) {
    return writer.failure("cannot be made");
  }
  const std::uint64_t size = text.size();
  auto status = writer.write(std::as_bytes(std::span(&size, 1)));
  if (status.ok()) {
    status = writer.write(std::as_bytes(std::span(text)));
  }
  if (!status.ok()) {
    return status;
  }
  return writer;
}

Writer::Writer(Writer&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, -1)),
      left_(other.left_) {}

Writer::~Writer() {
  if (file_ >= 0) {
    ::close(file_);
    ::unlink(temporary_.c_str());
  }
}

StoreStatus Writer::failure(const char* what) const {
  return {StoreCode::io, path_.string() + ": " + what + ": " + std::strerror(errno)};
}

StoreStatus Writer::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return failure("cannot be written");
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  return {};
}

StoreStatus Writer::append(std::span<const std::byte> bytes) {
  if (bytes.size() > left_) {
    return {StoreCode::mismatch, path_.string() + ": more data than the tensors that were declared have"};
  }
  left_ -= bytes.size();
  return write(bytes);
}

StoreStatus Writer::finish() {
  if (left_ != 0) {
    return {StoreCode::mismatch, path_.string() + ": " + std::to_string(left_) + " bytes of data are missing"};
  }
  if (::fsync(file_) != 0) {
    return failure("cannot be written");
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return failure("cannot be written");
  }
  ::close(std::exchange(file_, -1));
  return sync_folder();
}

// A new name in a folder is durable when the folder is.
StoreStatus Writer::sync_folder() const {
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return {};  // a folder that may be written but not read: the file is there
  }
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL;  // file systems that cannot say so
  auto status = synced ? StoreStatus{} : failure("its folder cannot be written");
  ::close(descriptor);
  return status;
}

}  // namespace ballast::safetensors
