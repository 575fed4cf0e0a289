// Reading a text file line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "worker/data/byte_source.h"

namespace ballast {

// A longer line ends the reading. 16 MiB.
inline constexpr std::size_t kMaxLine = std::size_t{1} << 24U;

// Not thread-safe. Plain or gzip-compressed. Memory: the longest line. Throws what ByteSource throws, and
// std::runtime_error for a line that is too long.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path) : source_(path), path_(path) {}

  // The next line, without its \n and a \r before that; until the next call. Nothing at the end; a last line needs no
  // \n.
  std::optional<std::string_view> next();
  // Of the line that next() gave, from 1 on.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // "PATH, line 3".
  [[nodiscard]] std::string where() const { return path_.string() + ", line " + std::to_string(number_); }

 private:
  bool refill();

  ByteSource source_;
  std::filesystem::path path_;
  std::string held_;       // what was read and not given out begins at begin_
  std::size_t begin_ = 0;  // of the next line
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace ballast
