// Reading tar archives front to back: ustar (POSIX.1-1988) with pax names and sizes (POSIX.1-2001), and GNU's long
// names and large sizes. Plain or gzip-compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "worker/data/byte_source.h"

namespace ballast {

// A regular file within an archive.
struct TarFile {
  std::string path;          // as the archive says it
  std::uint64_t offset = 0;  // of its content within the archive (after decompression)
  std::uint64_t size = 0;
};

// Paths longer than this, and pax records longer than kMaxPaxBytes, are refused.
inline constexpr std::size_t kMaxTarPath = 4096;
inline constexpr std::uint64_t kMaxPaxBytes = std::uint64_t{1} << 20U;

// Whether a file, plain or gzip-compressed, begins as a tar archive does. Throws what ByteSource throws.
bool is_tar(const std::filesystem::path& path);

// Not thread-safe. Each error is a std::runtime_error that names the archive, the byte and the remedy: no tar archive,
// a wrong checksum, an archive that is cut short (it must end with an empty block).
class TarReader {
 public:
  explicit TarReader(const std::filesystem::path& path) : path_(path), source_(path) {}

  // The next regular file; what is left of the one before is passed over, as are folders, links and devices. Nothing at
  // the archive's end; then the rest is read, so that a compressed archive's checksum has been looked at, and links are
  // warned of: one who packs files that have several names, or links, may not know that only the names are in it.
  std::optional<TarFile> next();
  // Of the file that next() gave, from where the last read ended. `bytes` is at most what is left of it.
  void read(std::span<std::uint8_t> bytes);

 private:
  void skip_rest();
  void skip(std::uint64_t bytes, const char* within);
  void fill(std::span<std::uint8_t> bytes, const char* within);
  std::string read_text(std::uint64_t size, const char* within);
  void read_pax(const std::string& records, std::uint64_t at);
  void drain();
  void note_link(const std::string& name);
  void warn_of_links() const;

  std::filesystem::path path_;
  ByteSource source_;
  std::uint64_t links_ = 0;
  std::string first_link_;
  std::uint64_t left_ = 0;     // of the current file
  std::uint64_t padding_ = 0;  // behind it
  // Said before a file, of that file alone:
  std::string next_path_;
  std::optional<std::uint64_t> next_size_;
};

}  // namespace ballast
