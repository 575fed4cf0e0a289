#include "common/files/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace ballast {

namespace {

std::error_code refused() { return {errno, std::generic_category()}; }

std::error_code sync_by(int (*sync)(int descriptor), const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return refused();
  }
  const auto error = sync(descriptor) == 0 ? std::error_code() : refused();
  ::close(descriptor);
  return error;
}

}  // namespace

NewFile::~NewFile() { drop(); }

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      synced_(other.synced_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile& NewFile::operator=(NewFile&& other) noexcept {
  if (this != &other) {
    drop();
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    synced_ = other.synced_;
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void NewFile::drop() {
  if (descriptor_ < 0) {
    return;
  }
  ::close(std::exchange(descriptor_, -1));
  if (temporary_ != path_) {
    ::unlink(temporary_.c_str());
  }
}

std::error_code NewFile::create(const std::filesystem::path& path, const NewFileOptions& options) {
  drop();
  path_ = path;
  temporary_ = path;
  if (!options.through_special || !is_special(path)) {
    temporary_ += options.suffix;
  }
  synced_ = options.synced;
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, options.mode);
  return descriptor_ < 0 ? refused() : std::error_code();
}

std::error_code NewFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return refused();
    }
    bytes = bytes.subspan(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return {};
}

std::error_code NewFile::append(std::string_view text) { return append(std::as_bytes(std::span(text))); }

std::error_code NewFile::finish() {
  if (synced_ && ::fsync(descriptor_) != 0) {
    return refused();
  }
  // A file system may tell only when it is closed what it could not write.
  if (::close(std::exchange(descriptor_, -1)) == 0 &&
      (temporary_ == path_ || std::rename(temporary_.c_str(), path_.c_str()) == 0)) {
    return {};
  }
  const auto error = refused();
  if (temporary_ != path_) {
    ::unlink(temporary_.c_str());
  }
  return error;
}

std::error_code write_whole(const std::filesystem::path& path, std::string_view content,
                            const NewFileOptions& options) {
  NewFile file;
  if (const auto error = file.create(path, options)) {
    return error;
  }
  if (const auto error = file.append(content)) {
    return error;
  }
  return file.finish();
}

bool is_special(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto there = std::filesystem::symlink_status(path, unknown);
  return std::filesystem::exists(there) && !std::filesystem::is_regular_file(there);
}

std::error_code sync_folder(const std::filesystem::path& folder) { return sync_by(::fsync, folder); }

std::error_code sync_file_system(const std::filesystem::path& folder) { return sync_by(::syncfs, folder); }

}  // namespace ballast
