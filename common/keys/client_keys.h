// The keys of whoever connects: its own, and those by which it recognises a server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "common/files/file_change.h"
#include "common/keys/key_file.h"

namespace ballast {

// From a file, whose server keys are read anew when it has changed: these can be replaced while others run. Its own
// pair stays that of its start, for its session belongs to that. Thread-safe.
class ClientKeys {
 public:
  // Throws UsageError as load_own_keys does.
  explicit ClientKeys(std::filesystem::path path);

  struct Handshake {
    KeyPair own;
    std::string server_key;
  };
  // For the connection of this number: where several servers' keys are known, each has its turn. What cannot be read
  // any more is as it was, and logged.
  Handshake handshake(std::uint32_t connection);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
  std::mutex mutex_;
  FileChange change_;
  OwnKeys keys_;
};

}  // namespace ballast
