// What the tests of safetensors files share.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "tests/unit/temporary_folder.h"

namespace ballast::testing {

inline void write_whole(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

inline std::string bytes_of_floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A file as the format says, put together without the writer.
inline std::string file_of(const std::string& header, const std::string& data) {
  std::string file;
  for (unsigned byte = 0; byte < 8; ++byte) {
    file.push_back(static_cast<char>((std::uint64_t{header.size()} >> (8 * byte)) & 0xFFU));
  }
  return file + header + data;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Three parameters in two groups: two share a chunk, with padding between.
inline Arena small_arena() {
  return lay_out({{"fc.weight", {3, 5}, Group::decay, {}},
                  {"fc.scale", {7}, Group::decay, {}},
                  {"fc.bias", {3}, Group::no_decay, {}}});
}

}  // namespace ballast::testing
