#include "common/log/rotating_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ballast {
namespace {

constexpr std::uint64_t kTryAgainAfter = 1U << 20U;  // bytes, where a file could not be put aside

int open_log(const std::string& path, int flags) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | flags, 0644);
}

bool is_same_file(int one, int other) {
  struct stat left {};
  struct stat right {};
  return ::fstat(one, &left) == 0 && ::fstat(other, &right) == 0 && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

std::string numbered(const std::string& path, std::uint32_t number) { return path + "." + std::to_string(number); }

}  // namespace

RotatingFile::RotatingFile(std::string path, std::uint64_t most_bytes, std::uint32_t files)
    : path_(std::move(path)), most_bytes_(most_bytes), files_(std::max<std::uint32_t>(files, 1)), try_at_(most_bytes) {
  if (const auto folder = std::filesystem::path(path_).parent_path(); !folder.empty()) {
    std::filesystem::create_directories(folder);
  }
  descriptor_ = open_log(path_, 0);
  struct stat info {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  bytes_ = static_cast<std::uint64_t>(info.st_size);
}

RotatingFile::~RotatingFile() { ::close(descriptor_); }

void RotatingFile::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  if (most_bytes_ > 0 && bytes_ > 0 && bytes_ + line.size() > try_at_) {
    put_aside();
  }
  if (lost_ > 0) {
    const auto told = "(" + std::to_string(lost_) + " lines could not be written here)\n";
    lost_ = write(told.data(), told.size()) ? 0 : lost_;
  }
  lost_ += write(line.data(), line.size()) ? 0 : 1;
}

bool RotatingFile::write(const char* data, std::size_t size) {
  while (size > 0) {
    const auto written = ::write(descriptor_, data, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes_ += static_cast<std::uint64_t>(written);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// The new one is there before the old one loses its name, so that a want of descriptors or space ends nothing.
void RotatingFile::put_aside() {
  const auto next = path_ + ".new";
  const int made = open_log(next, O_TRUNC);
  if (made < 0) {
    try_at_ = bytes_ + kTryAgainAfter;
    return;
  }
  for (auto number = files_ - 1; number > 1; --number) {
    ::rename(numbered(path_, number - 1).c_str(), numbered(path_, number).c_str());
  }
  if (files_ > 1) {
    ::rename(path_.c_str(), numbered(path_, 1).c_str());
  }
  ::rename(next.c_str(), path_.c_str());
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (is_same_file(stream, descriptor_)) {
      ::dup2(made, stream);
    }
  }
  ::dup3(made, descriptor_, O_CLOEXEC);
  ::close(made);
  bytes_ = 0;
  try_at_ = most_bytes_;
}

}  // namespace ballast
