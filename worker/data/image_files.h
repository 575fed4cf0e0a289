// The encoded images of a split: a folder with one folder a class, or a tar archive of such.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ballast {

// A file in a folder: perhaps an example.
struct ImageFile {
  std::string folder;  // that it lies in: its class
  std::string name;
  std::uint64_t offset = 0;  // in the archive
  std::uint64_t size = 0;
  std::string digest = {};  // of its bytes; empty where they were not read

  [[nodiscard]] std::string path() const { return folder + "/" + name; }
};

// A file larger than this is refused. 256 MiB.
inline constexpr std::uint64_t kMaxImageFile = std::uint64_t{1} << 28U;
inline constexpr std::size_t kMaxImageFiles = std::size_t{1} << 24U;

// Which files there are, and their bytes. Files directly in the folder (or at the archive's top), hidden ones (any part
// of whose path begins with a dot) and what is no regular file are passed over. Of an archive, the last folder of a
// path counts. Thread-safe after construction.
class ImageFiles {
 public:
  // Reads every byte once, for digests. The content of a compressed archive is kept in memory, at most `memory` bytes
  // of it; files of a folder and of a plain archive are read again where they lie. Throws std::runtime_error: no such
  // folder or file, no tar archive or one that is cut short, a path that occurs twice, too much for `memory`.
  ImageFiles(const std::filesystem::path& path, std::uint64_t memory);
  ~ImageFiles();
  ImageFiles(ImageFiles&&) noexcept;
  ImageFiles& operator=(ImageFiles&&) = delete;

  // Sorted by path.
  [[nodiscard]] const std::vector<ImageFile>& files() const;
  // All bytes of a file. Throws std::runtime_error if it cannot be read, or is no longer as long as it was.
  [[nodiscard]] std::vector<std::uint8_t> bytes(const ImageFile& file) const;
  // For messages: where the file lies.
  [[nodiscard]] std::string where(const ImageFile& file) const;
  // Bytes that are kept in memory.
  [[nodiscard]] std::uint64_t memory() const;

 private:
  class Source;
  class Folder;
  class PlainArchive;
  class Unpacked;
  std::unique_ptr<Source> source_;
  std::filesystem::path path_;
};

// Each file of a tar archive that counts, front to back, with its bytes while `take` runs: memory for one at a time.
// Throws as the constructor of ImageFiles does.
void for_each_archived(const std::filesystem::path& archive,
                       const std::function<void(const ImageFile& file, std::span<const std::uint8_t> bytes)>& take);

// Sorts by path. Throws std::runtime_error for a path that occurs twice.
void sort_image_files(const std::filesystem::path& path, std::vector<ImageFile>& files);

// For messages: where a file of this folder or archive lies.
std::string image_where(const std::filesystem::path& path, const ImageFile& file);

// Whether a name ends as those of images do: .png, .jpg or .jpeg, in capitals or not.
bool looks_like_image(const std::string& name);

// The folders that hold images, in the order of their names.
std::vector<std::string> class_folders(const std::vector<ImageFile>& files);

// An example: which file it is (an index) and its class.
struct ImageExample {
  std::uint32_t file = 0;
  std::uint32_t label = 0;
};

// The examples of files that are sorted by path: those in a folder that is one of `classes`. Classes are spread evenly,
// so that a part of the order holds all of them: the k-th of a class's n files by path stands at (k + 1/2) / n, and
// those at equal places stand in the order of `classes`. Throws std::runtime_error, beginning with `where`, for an
// image in another folder, and for a class without any unless classes may be empty: what is only evaluated may lack
// some.
enum class EmptyClasses : std::uint8_t { refused, allowed };
std::vector<ImageExample> spread_examples(const std::vector<ImageFile>& files, const std::vector<std::string>& classes,
                                          const std::string& where, EmptyClasses empty = EmptyClasses::refused);

}  // namespace ballast
