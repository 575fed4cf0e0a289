#include "worker/data/image_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/numeric/sha256.h"
#include "common/text/text.h"
#include "worker/data/class_files.h"
#include "worker/data/failures.h"
#include "worker/data/tar.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// Names come from elsewhere.
std::string shown_path(const fs::path& path) {
  constexpr std::size_t kLongest = 1000;
  return as_line(path.string(), kLongest);
}

// A regular file that is open, read at any place.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
      const int error = errno;
      if (descriptor_ >= 0) {
        ::close(descriptor_);
      }
      throw_unread(shown_path(path) + ": cannot be opened: " + std::strerror(error), {error, std::generic_category()});
    }
    size_ = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }

  [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t offset, std::uint64_t size) const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    for (std::size_t got = 0; got < bytes.size();) {
      const auto part = ::pread(descriptor_, bytes.data() + got, bytes.size() - got, static_cast<off_t>(offset + got));
      if (part < 0 && errno == EINTR) {
        continue;
      }
      if (part <= 0) {
        const auto where = shown_path(path_) + ", byte " + std::to_string(offset + got) + ": ";
        if (part == 0) {
          throw std::runtime_error(where + "the file ends; it has changed since it was opened");
        }
        throw ReadFailure(where + "reading failed: " + std::strerror(errno));
      }
      got += static_cast<std::size_t>(part);
    }
    return bytes;
  }

 private:
  fs::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

std::string digest_of(std::span<const std::uint8_t> bytes) { return Sha256().update(std::as_bytes(bytes)).hex(); }

void check_size(const std::string& where, std::uint64_t size) {
  if (size > kMaxImageFile) {
    throw std::runtime_error(where + ": " + std::to_string(size) + " bytes are more than the " +
                             std::to_string(kMaxImageFile) + " of the largest image file that is read; take it away");
  }
}

void check_count(const fs::path& path, std::size_t files) {
  if (files > kMaxImageFiles) {
    throw std::runtime_error(path.string() + ": holds more than the " + std::to_string(kMaxImageFiles) +
                             " files that a split may have");
  }
}

// The last folder and the name of a path in an archive; an empty folder if it is none that counts.
ImageFile placed(const TarFile& file) {
  ImageFile placed{.folder = {}, .name = {}, .offset = file.offset, .size = file.size};
  std::string_view rest = file.path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('/'), rest.size());
    const auto part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") {
      continue;
    }
    if (part.front() == '.') {
      return {};
    }
    placed.folder = std::exchange(placed.name, std::string(part));
  }
  return placed;
}

}  // namespace

class ImageFiles::Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::vector<std::uint8_t> bytes(const ImageFile& file) const = 0;
  [[nodiscard]] virtual std::uint64_t memory() const { return 0; }
  std::vector<ImageFile> files;
};

class ImageFiles::Folder : public Source {
 public:
  explicit Folder(const fs::path& path) : path_(path) {
    for_each_class_file(path, [&](const std::string& folder, const fs::directory_entry& file) {
      if (is_class_file(file)) {
        files.push_back({folder, file.path().filename(), 0, file.file_size()});
        check_count(path_, files.size());
      }
    });
    for (auto& file : files) {
      check_size(shown_path(path_ / file.path()), file.size);
      file.digest = digest_of(bytes(file));
    }
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(const ImageFile& file) const override {
    const OpenFile open(path_ / file.folder / file.name);
    if (open.size() != file.size) {
      throw std::runtime_error(shown_path(path_ / file.path()) + ": has another size than when it was first looked at");
    }
    return open.read(0, file.size);
  }

 private:
  fs::path path_;
};

class ImageFiles::PlainArchive : public Source {
 public:
  explicit PlainArchive(const fs::path& path) : archive_(path) {
    for_each_archived(path, [&](const ImageFile& file, std::span<const std::uint8_t> bytes) {
      files.push_back(file);
      files.back().digest = digest_of(bytes);
    });
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(const ImageFile& file) const override {
    return archive_.read(file.offset, file.size);
  }

 private:
  OpenFile archive_;
};

class ImageFiles::Unpacked : public Source {
 public:
  Unpacked(const fs::path& path, std::uint64_t memory) {
    TarReader reader(path);
    while (const auto found = reader.next()) {
      auto file = placed(*found);
      if (file.folder.empty()) {
        continue;
      }
      check_size(shown_path(path / found->path), file.size);
      if (file.size > memory - content_.size()) {
        throw std::runtime_error(path.string() + ": its content takes more than the " + std::to_string(memory) +
                                 " bytes that data.cache_mb leaves for it; raise data.cache_mb, or unpack the archive "
                                 "with gunzip: a plain .tar is read where it lies");
      }
      file.offset = content_.size();
      content_.resize(content_.size() + static_cast<std::size_t>(file.size));
      const auto bytes = std::span(content_).subspan(static_cast<std::size_t>(file.offset));
      reader.read(bytes);
      file.digest = digest_of(bytes);
      files.push_back(std::move(file));
      check_count(path, files.size());
    }
    content_.shrink_to_fit();
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(const ImageFile& file) const override {
    const auto begin = content_.begin() + static_cast<std::ptrdiff_t>(file.offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(file.size)};
  }
  [[nodiscard]] std::uint64_t memory() const override { return content_.size(); }

 private:
  std::vector<std::uint8_t> content_;
};

void for_each_archived(const fs::path& archive,
                       const std::function<void(const ImageFile& file, std::span<const std::uint8_t> bytes)>& take) {
  TarReader reader(archive);
  std::vector<std::uint8_t> content;
  std::size_t count = 0;
  while (const auto found = reader.next()) {
    const auto file = placed(*found);
    if (!file.folder.empty()) {
      check_size(shown_path(archive / found->path), file.size);
      check_count(archive, ++count);
      content.resize(static_cast<std::size_t>(file.size));
      reader.read(content);
      take(file, content);
    }
  }
}

void sort_image_files(const fs::path& path, std::vector<ImageFile>& files) {
  std::ranges::sort(files, {}, &ImageFile::path);
  const auto twice = std::ranges::adjacent_find(files, {}, &ImageFile::path);
  if (twice != files.end()) {
    throw std::runtime_error(image_where(path, *twice) + ": occurs twice; pack the archive again");
  }
}

std::string image_where(const fs::path& path, const ImageFile& file) { return shown_path(path / file.path()); }

ImageFiles::ImageFiles(const fs::path& path, std::uint64_t memory) : path_(path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto nothing = std::make_error_code(std::errc::no_such_file_or_directory);
    throw_unread(shown_path(path) + ": cannot be read: " + (error ? error : nothing).message() +
                     "; correct data.train, data.test or data.path",
                 error ? error : nothing);
  }
  if (fs::is_directory(path, error)) {
    source_ = std::make_unique<Folder>(path);
  } else if (ByteSource(path).is_compressed()) {
    source_ = std::make_unique<Unpacked>(path, memory);
  } else {
    source_ = std::make_unique<PlainArchive>(path);
  }
  sort_image_files(path, source_->files);
}

ImageFiles::~ImageFiles() = default;
ImageFiles::ImageFiles(ImageFiles&&) noexcept = default;

const std::vector<ImageFile>& ImageFiles::files() const { return source_->files; }

std::vector<std::uint8_t> ImageFiles::bytes(const ImageFile& file) const { return source_->bytes(file); }

std::string ImageFiles::where(const ImageFile& file) const { return image_where(path_, file); }

std::uint64_t ImageFiles::memory() const { return source_->memory(); }

bool looks_like_image(const std::string& name) {
  const auto dot = name.rfind('.');
  std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<std::string> class_folders(const std::vector<ImageFile>& files) {
  std::set<std::string> folders;
  for (const auto& file : files) {
    if (looks_like_image(file.name)) {
      folders.insert(file.folder);
    }
  }
  return {folders.begin(), folders.end()};
}

std::vector<ImageExample> spread_examples(const std::vector<ImageFile>& files, const std::vector<std::string>& classes,
                                          const std::string& where, EmptyClasses empty) {
  std::map<std::string, std::uint32_t> labels;
  for (const auto& name : classes) {
    labels.emplace(name, static_cast<std::uint32_t>(labels.size()));
  }
  std::vector<std::uint64_t> held(classes.size());
  struct Ranked {
    ImageExample example;
    std::uint64_t rank;
  };
  std::vector<Ranked> ranked;
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    const auto label = labels.find(files[i].folder);
    if (label != labels.end()) {
      ranked.push_back({{i, label->second}, held[label->second]++});
    } else if (looks_like_image(files[i].name)) {
      throw std::runtime_error(where + ": " + shown_path(files[i].path()) +
                               " lies in a folder that is none of data.classes; name "
                               "its class there, or take the folder away");
    }
  }
  const auto lacking = std::ranges::find(held, 0U);
  if (lacking != held.end() && empty == EmptyClasses::refused) {
    throw std::runtime_error(where + ": holds no folder '" + classes[static_cast<std::size_t>(lacking - held.begin())] +
                             "' with images of that class of data.classes; add some, or take the class out of "
                             "data.classes and its folder out of the other split");
  }
  std::ranges::sort(ranked, [&](const Ranked& a, const Ranked& b) {
    const auto left = (2 * a.rank + 1) * held[b.example.label];
    const auto right = (2 * b.rank + 1) * held[a.example.label];
    return left != right ? left < right : a.example.label < b.example.label;
  });
  std::vector<ImageExample> examples;
  examples.reserve(ranked.size());
  for (const auto& one : ranked) {
    examples.push_back(one.example);
  }
  return examples;
}

}  // namespace ballast
