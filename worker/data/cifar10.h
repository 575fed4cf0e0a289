// The binary records in which CIFAR-10 is published (A. Krizhevsky, 2009): 1 label byte, then 1024 red, 1024 green and
// 1024 blue bytes, each plane row by row. Plain or gzip-compressed by content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "worker/data/pixel_dataset.h"

namespace ballast {

inline constexpr std::size_t kCifarPixels = std::size_t{3} * 32 * 32;
// Records of all files of a split at most: 1 GiB of pixels.
inline constexpr std::uint32_t kMaxCifarRecords = (1U << 30U) / kCifarPixels;

// Appends the records of a file. Memory grows with what the file really holds. Throws std::runtime_error naming the
// file, the byte and the remedy: a record that is cut short, a label that is not below `classes`, too many records, or
// none.
void append_cifar10(const std::filesystem::path& path, std::uint32_t classes, PixelSplit& split);

}  // namespace ballast
