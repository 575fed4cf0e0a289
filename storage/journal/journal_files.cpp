#include "storage/journal/journal_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/files/new_file.h"
#include "storage/free_bytes.h"

namespace ballast {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

// The parts that are left when the first `bytes` of them are done.
void advance(std::vector<iovec>& parts, std::size_t& first, std::size_t bytes) {
  while (bytes > 0) {
    auto& part = parts[first];
    const auto taken = std::min(bytes, part.iov_len);
    part.iov_base = static_cast<char*>(part.iov_base) + taken;
    part.iov_len -= taken;
    bytes -= taken;
    first += part.iov_len == 0 ? 1 : 0;
  }
}

class SystemFile final : public JournalFile {
 public:
  explicit SystemFile(int descriptor) : descriptor_(descriptor) {}
  ~SystemFile() override { ::close(descriptor_); }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  FileError write(std::uint64_t offset, std::span<const iovec> given) override {
    std::vector<iovec> parts;
    std::copy_if(given.begin(), given.end(), std::back_inserter(parts), [](const iovec& p) { return p.iov_len > 0; });
    for (std::size_t first = 0; first < parts.size();) {
      const auto count = static_cast<int>(std::min<std::size_t>(parts.size() - first, IOV_MAX));
      const auto written = ::pwritev(descriptor_, &parts[first], count, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written <= 0) {
        return written < 0 ? errno : EIO;
      }
      offset += static_cast<std::uint64_t>(written);
      advance(parts, first, static_cast<std::size_t>(written));
    }
    return 0;
  }

  FileError read(std::uint64_t offset, std::span<std::byte> into, std::size_t& count) override {
    count = 0;
    while (count < into.size()) {
      const auto size =
          ::pread(descriptor_, into.data() + count, into.size() - count, static_cast<off_t>(offset + count));
      if (size < 0 && errno == EINTR) {
        continue;
      }
      if (size <= 0) {
        return size < 0 ? errno : 0;
      }
      count += static_cast<std::size_t>(size);
    }
    return 0;
  }

  FileError size(std::uint64_t& bytes) override {
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0) {
      return errno;
    }
    bytes = static_cast<std::uint64_t>(info.st_size);
    return 0;
  }
  FileError sync() override { return ::fdatasync(descriptor_) == 0 ? 0 : errno; }
  FileError cut(std::uint64_t size) override {
    return ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 ? 0 : errno;
  }
  void push_out(std::uint64_t offset, std::uint64_t bytes) override {
    ::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
  }

 private:
  int descriptor_;
};

class SystemLock final : public JournalLock {
 public:
  explicit SystemLock(int descriptor) : descriptor_(descriptor) {}
  ~SystemLock() override { ::close(descriptor_); }
  SystemLock(const SystemLock&) = delete;
  SystemLock& operator=(const SystemLock&) = delete;

 private:
  int descriptor_;
};

class SystemFiles final : public JournalFiles {
 public:
  FileError create(const std::filesystem::path& path, std::unique_ptr<JournalFile>& file) override {
    return open_as(path, O_RDWR | O_CREAT | O_TRUNC, file);
  }
  FileError open(const std::filesystem::path& path, bool writable, std::unique_ptr<JournalFile>& file) override {
    return open_as(path, writable ? O_RDWR : O_RDONLY, file);
  }
  FileError rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  }
  FileError remove(const std::filesystem::path& path) override { return ::unlink(path.c_str()) == 0 ? 0 : errno; }

  FileError list(const std::filesystem::path& folder, std::vector<std::string>& names) override {
    names.clear();
    std::error_code failure;
    for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
      names.push_back(at->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return failure.value();
  }

  FileError make_folder(const std::filesystem::path& folder) override {
    return ::mkdir(folder.c_str(), kFolderMode) == 0 || errno == EEXIST ? 0 : errno;
  }

  FileError lock(const std::filesystem::path& folder, std::unique_ptr<JournalLock>& lock) override {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
      return errno;
    }
    auto held = std::make_unique<SystemLock>(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      return errno;
    }
    lock = std::move(held);
    return 0;
  }

  std::uint64_t free_bytes(const std::filesystem::path& folder) override { return ballast::free_bytes(folder); }

  FileError sync_folder(const std::filesystem::path& folder) override { return ballast::sync_folder(folder).value(); }

 private:
  static FileError open_as(const std::filesystem::path& path, int flags, std::unique_ptr<JournalFile>& file) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, kFileMode);
    if (descriptor < 0) {
      return errno;
    }
    file = std::make_unique<SystemFile>(descriptor);
    return 0;
  }
};

}  // namespace

JournalFiles& system_journal_files() {
  static SystemFiles files;
  return files;
}

StoreStatus file_status(const std::filesystem::path& path, const std::string& what, FileError error) {
  if (error == 0) {
    return {};
  }
  const auto code = code_of(error);
  return {code,
          path.string() + ": cannot " + what + ": " + std::strerror(error) + "; " + std::string(disk_remedy(code))};
}

}  // namespace ballast
