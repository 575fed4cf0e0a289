// The safetensors format (Hugging Face, "Safetensors", https://github.com/huggingface/safetensors), in which models are
// exchanged between frameworks:
//
//   file     := size header data
//   size     := u64, bytes of header
//   header   := a JSON object { NAME: tensor, ..., "__metadata__": { TEXT: TEXT, ... } }, padded with spaces
//   tensor   := { "dtype": DTYPE, "shape": [EXTENT, ...], "data_offsets": [BEGIN, END] }
//   data     := the tensors' bytes, row-major; offsets are in bytes from its begin
//
// All numbers are little-endian. Names are unique, and the tensors cover the data without gaps or overlaps.
// Pure functions. Error texts do not name the file: its reader puts the name in front.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/status.h"

namespace ballast::safetensors {

inline constexpr std::uint64_t kSizeBytes = 8;                          // of the header's size
inline constexpr std::uint64_t kMaxHeaderBytes = 16U << 20;             // more is not the header of a model
inline constexpr std::size_t kMaxDimensions = 16;                       // of a tensor
inline constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 48U;  // of a tensor

struct Tensor {
  std::string name;
  std::string dtype;                 // as the file says it: F32, BF16, I64, ...
  std::vector<std::uint64_t> shape;  // outermost first; empty: one number
  std::uint64_t begin = 0;           // bytes, from the begin of the data
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const auto extent : shape) {
      count *= extent;
    }
    return count;
  }
  bool operator==(const Tensor&) const = default;
};

using Metadata = std::map<std::string, std::string>;

struct Header {
  std::vector<Tensor> tensors;  // in the order of their data
  Metadata metadata;

  [[nodiscard]] const Tensor* find(std::string_view name) const;
  bool operator==(const Header&) const = default;
};

// Whether tensors of this type can be read: F32, F16 and BF16, all of whose values are floats.
bool is_readable(std::string_view dtype);

// The bytes of one element; 0 for a type that is not known.
std::uint64_t bytes_of(std::string_view dtype);

// Reads the JSON text of a header whose file holds `data_bytes` bytes of data. Everything that the format demands is
// checked; `corrupt` names the tensor and what is wrong with it.
StoreResult<Header> parse_header(std::string_view text, std::uint64_t data_bytes);

// The JSON text, padded so that the data begins at a multiple of 8 bytes.
std::string header_text(const Header& header);

}  // namespace ballast::safetensors
