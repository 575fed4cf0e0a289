#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include "common/files/new_file.h"
#include "storage/copies/place.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".part";
constexpr std::size_t kReadBytes = 1U << 20U;
constexpr int kTries = 1'000;  // in vain, before that is a failure

StoreStatus failure(const fs::path& path, const std::string& what, const std::error_code& reason) {
  return {reason == std::errc::no_such_file_or_directory ? StoreCode::missing : StoreCode::io,
          path.string() + ": cannot " + what + ": " + reason.message()};
}

// The folder and those above it; `made`: those that were not there, the outermost first.
StoreStatus make_folders(const fs::path& folder, std::vector<fs::path>& made) {
  std::error_code refused;
  if (folder.empty() || fs::is_directory(folder, refused)) {
    return {};
  }
  if (auto above = make_folders(folder.parent_path(), made); !above.ok()) {
    return above;
  }
  if (fs::create_directory(folder, refused)) {
    made.push_back(folder);
  }
  const auto status = refused ? failure(folder, "make the folder", refused) : StoreStatus{};
  const bool has_vanished = refused == std::errc::file_exists;  // between two looks; or a file is in the way
  return has_vanished ? StoreStatus{StoreCode::missing, status.text()} : status;
}

// What is synced in a folder is lost with the folder's own entry, so that is synced, too.
StoreStatus sync_entries(const std::vector<fs::path>& made) {
  for (const auto& folder : made) {
    if (const auto unsynced = sync_folder(folder.parent_path())) {
      return {StoreCode::io, folder.string() + ": cannot sync the folder's entry: " + unsynced.message()};
    }
  }
  return {};
}

// A file under another name until it is whole.
class FileWriter final : public ObjectWriter {
 public:
  FileWriter(fs::path path, NewFile file) : path_(std::move(path)), file_(std::move(file)) {}

  StoreStatus append(std::string_view bytes) override {
    const auto refused = file_.append(bytes);
    return refused ? failure(path_, "write", refused) : StoreStatus{};
  }

  StoreStatus finish() override {
    auto refused = file_.finish();
    if (!refused) {
      refused = sync_folder(path_.parent_path());
    }
    return refused ? failure(path_, "finish", refused) : StoreStatus{};
  }

 private:
  fs::path path_;
  NewFile file_;
};

class FolderPlace final : public CopyPlace {
 public:
  FolderPlace(const std::string& folder, bool has_to_be_there) : root_(folder), has_to_be_there_(has_to_be_there) {}

  // A folder may vanish before the file is in it, for somebody removes the last of what he had there: it is made again.
  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override {
    const auto path = root_ / name;
    std::vector<fs::path> made;
    NewFile file;
    auto begun = begin(path, made, file);
    for (int tries = 1; begun.code() == StoreCode::missing && tries < kTries; ++tries) {
      begun = begin(path, made, file);
    }
    if (begun.ok()) {
      begun = sync_entries(made);  // only now, for a folder with a file in it stays
    }
    return begun.ok() ? StoreResult<std::unique_ptr<ObjectWriter>>(std::make_unique<FileWriter>(path, std::move(file)))
                      : StoreStatus{StoreCode::io, begun.text()};
  }

  StoreStatus read(const std::string& name, const Sink& sink) override {
    const auto path = root_ / name;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return failure(path, "read", {errno, std::generic_category()});
    }
    std::string piece(kReadBytes, '\0');
    ssize_t size = 0;
    while ((size = ::read(descriptor, piece.data(), piece.size())) > 0 &&
           sink(std::string_view(piece).substr(0, static_cast<std::size_t>(size)))) {
    }
    const auto reason = errno;
    ::close(descriptor);
    return size < 0 ? failure(path, "read", {reason, std::generic_category()}) : StoreStatus{};
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
  // `missing`: a folder has vanished meanwhile.
  StoreStatus begin(const fs::path& path, std::vector<fs::path>& made, NewFile& file) const {
    if (std::error_code error; has_to_be_there_ && !fs::is_directory(root_, error)) {
      return {StoreCode::io, root_.string() + ": there is no such folder; mount it"};
    }
    if (auto status = make_folders(path.parent_path(), made); !status.ok()) {
      return status;
    }
    const auto unfinished = "." + std::to_string(::getpid()) + std::string(kUnfinished);
    const auto refused = file.create(path, {.suffix = unfinished, .mode = 0644, .synced = true});
    return refused ? failure(path.string() + unfinished, "write", refused) : StoreStatus{};
  }

  // Of all files whose names begin with `prefix`. A folder may vanish meanwhile, for another shard removes old copies:
  // that ends a listing early, so that it is begun again. Each time a folder has gone, and so many do not.
  StoreStatus visit(const std::string& prefix, const std::function<void(const std::string& name)>& what) const {
    const auto folder = root_ / prefix.substr(0, prefix.rfind('/') + 1);
    std::error_code refused;
    for (int tries = 0; tries < kTries; ++tries) {
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
  bool has_to_be_there_;
};

}  // namespace

std::unique_ptr<CopyPlace> make_folder_place(const std::string& folder, bool has_to_be_there) {
  return std::make_unique<FolderPlace>(folder, has_to_be_there);
}

}  // namespace ballast
