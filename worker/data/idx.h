// The idx files in which MNIST and its relatives are published (Y. LeCun, "The MNIST database of handwritten digits"):
//
//   offset 0   u8 0, u8 0, u8 type (0x08: unsigned bytes, the only one read here), u8 number of dimensions
//   offset 4   one big-endian u32 for each dimension, outermost first
//   then       the values, row-major, and nothing after them
//
// Plain or gzip-compressed by content, whatever the name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace ballast {

struct IdxArray {
  std::vector<std::uint32_t> dimensions;
  std::vector<std::uint8_t> values;  // the product of the dimensions
};

// What the reader of a file knows of it beforehand: one entry for each dimension, empty where any extent is right.
using IdxShape = std::vector<std::optional<std::uint32_t>>;

// No array larger than this is read, whatever its header claims. 1 GiB.
inline constexpr std::uint64_t kMaxIdxBytes = std::uint64_t{1} << 30U;

// Reads a whole file. Memory grows with what the file really holds, never with what its header claims. Throws
// std::runtime_error naming the file, the offset, what was expected there and what to do.
IdxArray read_idx(const std::filesystem::path& path, const IdxShape& expected);

// What examples are like, known beforehand.
struct IdxKind {
  std::uint32_t height = 28;
  std::uint32_t width = 28;
  std::uint32_t classes = 10;  // at most 256
};

// Labelled images.
struct IdxExamples {
  std::vector<std::uint8_t> images;  // count * height * width
  std::vector<std::uint8_t> labels;  // count, each below `classes`
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(labels.size()); }
};

// Reads images and their labels; beyond read_idx's errors, they must be equally many and every label one of
// the classes.
IdxExamples read_idx_examples(const std::filesystem::path& images, const std::filesystem::path& labels,
                              const IdxKind& kind = {});

}  // namespace ballast
