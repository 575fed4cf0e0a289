#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include "common/copies/place.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".part";
constexpr std::size_t kReadBytes = 1U << 20U;
constexpr int kListings = 1'000;  // in vain, before that is a failure

StoreStatus failure(const fs::path& path, const std::string& what, int reason) {
  return {reason == ENOENT ? StoreCode::missing : StoreCode::io,
          path.string() + ": cannot " + what + ": " + std::strerror(reason)};
}

bool sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return false;
  }
  const bool synced = ::fsync(descriptor) == 0;
  ::close(descriptor);
  return synced;
}

// Makes the folder and those above it, as far as they are not there, and syncs the entry of each: what is synced in a
// folder is lost with the folder's own entry.
StoreStatus make_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code refused;
  for (auto at = folder; !at.empty() && !fs::exists(at, refused); at = at.parent_path()) {
    missing.push_back(at);
  }
  fs::create_directories(folder, refused);
  if (refused) {
    return {StoreCode::io, folder.string() + ": cannot make the folder: " + refused.message()};
  }
  for (auto made = missing.rbegin(); made != missing.rend(); ++made) {
    const auto parent = made->parent_path();
    if (!sync_folder(parent.empty() ? "." : parent)) {
      return failure(*made, "sync the folder's entry", errno);
    }
  }
  return {};
}

// A file under another name until it is whole.
class FileWriter final : public ObjectWriter {
 public:
  FileWriter(fs::path path, fs::path temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  ~FileWriter() override {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      ::unlink(temporary_.c_str());
    }
  }

  StoreStatus append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) {
        return failure(path_, "write", errno);
      }
      bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return {};
  }

  StoreStatus finish() override {
    if (::fsync(descriptor_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0 ||
        !sync_folder(path_.parent_path())) {
      return failure(path_, "finish", errno);
    }
    ::close(descriptor_);
    descriptor_ = -1;
    return {};
  }

 private:
  fs::path path_;
  fs::path temporary_;
  int descriptor_;
};

class FolderPlace final : public CopyPlace {
 public:
  explicit FolderPlace(const std::string& folder) : root_(folder) {}

  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override {
    const auto path = root_ / name;
    if (auto made = make_folders(path.parent_path()); !made.ok()) {
      return made;
    }
    auto temporary = path;
    temporary += "." + std::to_string(::getpid());
    temporary += kUnfinished;
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) {
      return failure(temporary, "write", errno);
    }
    return std::unique_ptr<ObjectWriter>(std::make_unique<FileWriter>(path, temporary, descriptor));
  }

  StoreStatus read(const std::string& name, const Sink& sink) override {
    const auto path = root_ / name;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return failure(path, "read", errno);
    }
    std::string piece(kReadBytes, '\0');
    ssize_t size = 0;
    while ((size = ::read(descriptor, piece.data(), piece.size())) > 0 &&
           sink(std::string_view(piece).substr(0, static_cast<std::size_t>(size)))) {
    }
    const auto reason = errno;
    ::close(descriptor);
    return size < 0 ? failure(path, "read", reason) : StoreStatus{};
  }

  StoreResult<std::vector<std::string>> list(const std::string& prefix) override {
    std::vector<std::string> names;
    const auto status = visit(prefix, [&names](const std::string& name) {
      if (!name.ends_with(kUnfinished)) {
        names.push_back(name);
      }
    });
    return status.ok() ? StoreResult<std::vector<std::string>>(std::move(names)) : status;
  }

  StoreStatus remove_unfinished(const std::string& prefix, const Ours& is_ours) override {
    std::vector<std::string> left;
    auto status = visit(prefix, [&](const std::string& name) {
      const auto object =
          name.ends_with(kUnfinished) ? name.substr(0, name.size() - kUnfinished.size()) : std::string();
      if (is_ours(object.substr(0, object.rfind('.')))) {  // without the process
        left.push_back(name);
      }
    });
    for (const auto& name : left) {
      status = status.ok() ? remove(name) : status;
    }
    return status;
  }

  StoreStatus remove(const std::string& name) override {
    const auto path = root_ / name;
    std::error_code refused;
    fs::remove(path, refused);
    if (refused) {
      return {StoreCode::io, path.string() + ": cannot remove the copy: " + refused.message()};
    }
    fs::remove(path.parent_path(), refused);  // if that was the last in it
    return {};
  }

  [[nodiscard]] std::string describe(const std::string& name) const override {
    return name.empty() ? root_.string() : (root_ / name).string();
  }

 private:
  // Of all files whose names begin with `prefix`. A folder may vanish meanwhile, for another shard removes old copies:
  // that ends a listing early, so that it is begun again. Each time a folder has gone, and so many do not.
  StoreStatus visit(const std::string& prefix, const std::function<void(const std::string& name)>& what) const {
    const auto folder = root_ / prefix.substr(0, prefix.rfind('/') + 1);
    std::error_code refused;
    for (int tries = 0; tries < kListings; ++tries) {
      const auto names = list_once(folder, prefix, refused);
      if (!refused) {
        std::ranges::for_each(names, what);
        return {};
      }
      if (refused != std::errc::no_such_file_or_directory) {
        break;
      }
    }
    return {StoreCode::io, folder.string() + ": cannot list the copies: " + refused.message()};
  }

  [[nodiscard]] std::vector<std::string> list_once(const fs::path& folder, const std::string& prefix,
                                                   std::error_code& refused) const {
    std::vector<std::string> names;
    refused.clear();
    // A folder that cannot be looked at is not an empty one; what lies in others' folders below it may be.
    if (!fs::exists(folder, refused) || refused || (fs::directory_iterator(folder, refused), refused)) {
      return names;
    }
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, refused), end;
         !refused && at != end; at.increment(refused)) {
      std::error_code gone;
      if (auto name = at->path().lexically_relative(root_).generic_string();
          at->is_regular_file(gone) && name.starts_with(prefix)) {
        names.push_back(std::move(name));
      }
    }
    return names;
  }

  fs::path root_;
};

}  // namespace

std::unique_ptr<CopyPlace> make_folder_place(const std::string& folder) {
  return std::make_unique<FolderPlace>(folder);
}

}  // namespace ballast
