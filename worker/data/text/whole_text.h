// A text file in memory.
#pragma once

#include <filesystem>
#include <string>

namespace ballast {

// 256 MiB.
inline constexpr std::size_t kMaxWholeText = std::size_t{1} << 28U;

// All bytes of a file, plain or gzip-compressed. Memory grows with what it holds. Throws what ByteSource throws, and
// std::runtime_error for more than `most` bytes.
std::string read_whole_text(const std::filesystem::path& path, std::size_t most = kMaxWholeText);

}  // namespace ballast
