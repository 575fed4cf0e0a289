// Writes safetensors files, F32 only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "common/files/new_file.h"
#include "common/files/status.h"
#include "common/safetensors/header.h"

namespace ballast::safetensors {

struct Declared {
  std::string name;
  std::vector<std::uint64_t> shape;
};

// One file, written front to back under another name, which it keeps unless finish() succeeds. One thread.
class Writer {
 public:
  // `io` if the file cannot be made.
  static StoreResult<Writer> create(const std::filesystem::path& path, const std::vector<Declared>& tensors,
                                    Metadata metadata);
  // The next bytes of the data: all tensors in the order in which they were declared, in pieces of any size.
  [[nodiscard]] StoreStatus append(std::span<const std::byte> bytes);
  // Durable, and under its own name, when it returns. `mismatch` unless all data has been appended.
  [[nodiscard]] StoreStatus finish();

 private:
  Writer() = default;
  [[nodiscard]] StoreStatus write(std::span<const std::byte> bytes);
  [[nodiscard]] StoreStatus failure(const char* what, const std::error_code& reason) const;

  std::filesystem::path path_;
  NewFile file_;
  std::uint64_t left_ = 0;  // bytes of data to be appended
};

}  // namespace ballast::safetensors
