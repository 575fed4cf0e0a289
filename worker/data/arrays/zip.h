// Reading members of a zip archive (PKWARE's APPNOTE 6.3): stored or deflated, below 4 GiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ballast {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  // 0: stored, 8: deflated
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;  // bytes
  std::uint64_t size = 0;    // bytes, unpacked
  std::uint64_t offset = 0;  // of its own header
};

inline constexpr std::size_t kMaxZipMembers = 65535;

// Not thread-safe. Each error is a std::runtime_error that names the file, the byte and the remedy.
class ZipFile {
 public:
  explicit ZipFile(const std::filesystem::path& path);

  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }
  // All bytes of a member, whose checksum is looked at. Memory grows with what is really there.
  std::string read(const ZipMember& member);

 private:
  friend class ZipMemberReader;

  std::string bytes_at(std::uint64_t offset, std::uint64_t count);
  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const;
  void read_directory();

  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t bytes_ = 0;
  std::vector<ZipMember> members_;
};

// A member's bytes front to back, in constant memory. The file must stay as long. Not thread-safe. Errors as ZipFile's.
class ZipMemberReader {
 public:
  ZipMemberReader(ZipFile& file, ZipMember member);
  ~ZipMemberReader();
  ZipMemberReader(const ZipMemberReader&) = delete;
  ZipMemberReader& operator=(const ZipMemberReader&) = delete;

  // Fills `bytes` as far as the member goes; less than its size means the end, and that size and checksum are right.
  std::size_t read(std::span<std::uint8_t> bytes);

 private:
  class Inflater;

  std::size_t copy_some(std::span<std::uint8_t> bytes);
  std::size_t inflate_some(std::span<std::uint8_t> bytes);
  void check_end() const;
  [[noreturn]] void fail(const std::string& what) const;

  ZipFile& file_;
  ZipMember member_;
  std::unique_ptr<Inflater> inflater_;  // none of a stored member
  std::string packed_;                  // that the inflater reads
  std::uint64_t begin_ = 0;             // of the packed bytes in the archive
  std::uint64_t taken_ = 0;             // of the packed bytes
  std::uint64_t given_ = 0;
  std::uint32_t crc_ = 0;
  bool ended_ = false;
};

}  // namespace ballast
