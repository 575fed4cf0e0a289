// Reading members of a zip archive (PKWARE's APPNOTE 6.3): stored or deflated, below 4 GiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
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
  std::string bytes_at(std::uint64_t offset, std::uint64_t count);
  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const;
  void read_directory();
  std::string inflated(const ZipMember& member, std::uint64_t begin);

  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t bytes_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace ballast
