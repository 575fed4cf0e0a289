// NumPy's array files: .npy, and .npz, a zip archive of them (numpy.lib.format, versions 1.0 to 3.0).
//
//   .npy  "\x93NUMPY", major, minor, the header's length (2 bytes, from version 2 on 4, little-endian), the header: a
//         Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }, then the values,
//         row-major
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "worker/data/arrays/zip.h"

namespace ballast {

// The bytes of an array are at most 4 GiB.
inline constexpr std::uint64_t kMaxArrayBytes = std::uint64_t{1} << 32U;

struct NpyHeader {
  std::string type;  // f4, f8, u1, i1, b1, u2, i2, u4, i4, u8 or i8: kind and bytes
  std::vector<std::uint64_t> shape;

  [[nodiscard]] std::uint64_t bytes_each() const { return static_cast<std::uint64_t>(type[1] - '0'); }
  // Of the bytes_each() bytes there.
  double value(const char* from) const;
};

// Where the header's text stands in a file.
struct NpyPrologue {
  std::size_t begin = 0;
  std::size_t length = 0;
};
inline constexpr std::size_t kNpyPrologueBytes = 12;
// Of a file's first kNpyPrologueBytes or more. Throws std::runtime_error for what is no .npy file.
NpyPrologue parse_npy_prologue(std::string_view bytes);

// Of the dictionary's text. Throws std::runtime_error with what is wrong: no dictionary, Fortran order, big-endian
// numbers, a type that is not read, too large a shape.
NpyHeader parse_npy_header(std::string_view text);

struct NpyArray {
  NpyHeader header;
  std::string bytes;      // of the file
  std::size_t begin = 0;  // of the values

  [[nodiscard]] std::uint64_t count() const { return header.shape.empty() ? 0 : header.shape[0]; }
  // Values in all.
  [[nodiscard]] std::uint64_t size() const;
  // Value `index` of these, row-major.
  [[nodiscard]] double at(std::uint64_t index) const;
};

// Of the bytes of an .npy file. Throws std::runtime_error with what is wrong, and where.
NpyArray parse_npy(std::string bytes);

// Where the array NAME lies: the file NAME or NAME.npy of a folder, and the member of an .npz file. Both throw
// std::runtime_error naming what is there instead.
std::filesystem::path array_file(const std::filesystem::path& folder, const std::string& name);
ZipMember array_member(const ZipFile& file, const std::filesystem::path& path, const std::string& name);

// "(60000, 784)".
std::string shape_text(const std::vector<std::uint64_t>& shape);

// Where read_array() reads, for people: "DIR/x.npy", or "set.npz:x".
std::string array_source(const std::filesystem::path& root, const std::string& name);

// The array NAME of `root`: of a folder the file NAME or NAME.npy, otherwise the member of the .npz file, stored or
// deflated. Memory grows with what is really there. Throws std::runtime_error naming the file, the byte where it
// matters, what is wrong and the remedy; an .npz without the member lists those it has.
NpyArray read_array(const std::filesystem::path& root, const std::string& name);

}  // namespace ballast
