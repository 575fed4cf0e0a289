// Reading a file's bytes, decompressed if the file is gzip by content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ballast {

// The remedy for a file that is not what it should be.
inline constexpr const char* kFetchAgain = "; fetch the file again, or name the right one";

// A file read once, front to back, in constant memory. Not thread-safe. Every error is a std::runtime_error (a
// ReadFailure: what may pass) that names the file, the offset and a remedy: no such file, not a regular file (a pipe
// could block for ever), a failing disk, a truncated or damaged gzip stream, bytes behind its end that are no further
// gzip member.
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills `bytes` as far as the content goes; less than its size means the end.
  std::size_t read(std::span<std::uint8_t> bytes);

  // Whether the file is gzip.
  [[nodiscard]] bool is_compressed() const;

  // Bytes given out so far, that is, after decompression.
  [[nodiscard]] std::uint64_t offset() const;

  // Throws std::runtime_error: "PATH, byte OFFSET: what".
  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ballast
