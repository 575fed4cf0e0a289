// Reads safetensors files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "common/files/status.h"
#include "common/safetensors/header.h"

namespace ballast::safetensors {

// An open file whose header has been read and checked. Thread-safe: every read names its place.
class Reader {
 public:
  // `missing` if there is no such file, `corrupt` if it is no safetensors file or a damaged one, `io` if the system
  // refuses; a folder or a pipe is refused without waiting.
  static StoreResult<Reader> open(const std::filesystem::path& path);

  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // The elements [first, first + out.size()) of one of header()'s tensors, widened to float. `mismatch` if they are
  // beyond its end or of a type that is not read. Memory does not depend on the tensor's size.
  [[nodiscard]] StoreStatus read(const Tensor& tensor, std::uint64_t first, std::span<float> out) const;

 private:
  class File;  // closes itself

  Reader() = default;
  [[nodiscard]] StoreStatus read_bytes(std::uint64_t offset, std::span<std::byte> out) const;
  StoreStatus read_header();

  std::string path_;
  std::shared_ptr<const File> file_;
  std::uint64_t size_ = 0;        // of the file
  std::uint64_t data_begin_ = 0;  // bytes, from the begin of the file
  Header header_;
};

}  // namespace ballast::safetensors
