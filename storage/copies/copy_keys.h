// The keys by which copies are encrypted before they leave a server: a file on each server, and with whoever restores.
//
//   line := "#" remark | "secret" 64 hexadecimal digits
//
// The first key encrypts, all decrypt: so a key is replaced by one that is put before it, and goes when the last copy
// that it has encrypted has gone.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/file_change.h"
#include "common/files/status.h"

namespace ballast {

inline constexpr std::size_t kCopyKeyBytes = 32;
inline constexpr std::size_t kCopyKeyIdBytes = 8;

struct CopyKey {
  std::array<unsigned char, kCopyKeyBytes> secret{};
  std::string
      id;  // by which objects, and texts for people, name it: 16 hexadecimal digits, which do not tell the secret
};

// A new one of libcrypto's random bytes. Throws std::runtime_error where there are none.
CopyKey make_copy_key();
// As a line of the file, with a remark that has its id.
std::string format_copy_key(const CopyKey& key);
// At least one. `mismatch` with the file, the line and the remedy; never with the line itself.
StoreResult<std::vector<CopyKey>> parse_copy_keys(std::string_view text, const std::string& path);

// Those of a file, which is read anew when it has changed; or none. One thread.
class CopyKeys {
 public:
  CopyKeys() : change_({}) {}
  // `mismatch` as parse_copy_keys(), or if it cannot be read. A file that everybody may read is logged.
  static StoreResult<CopyKeys> load(const std::filesystem::path& file);

  // As the file is now; what cannot be read any more is as it was, and logged.
  void refresh();
  [[nodiscard]] bool empty() const { return keys_.empty(); }
  [[nodiscard]] const CopyKey& first() const { return keys_.front(); }
  [[nodiscard]] const CopyKey* find(std::string_view id) const;  // null if there is none
  // For messages.
  [[nodiscard]] std::string ids() const;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  explicit CopyKeys(const std::filesystem::path& file) : file_(file.string()), change_(file) { change_.seen(); }

  std::string file_;
  FileChange change_;
  std::vector<CopyKey> keys_;
};

}  // namespace ballast
