#include "worker/data/idx.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>

#include "worker/data/byte_source.h"

namespace ballast {
namespace {

constexpr std::uint8_t kUnsignedBytes = 0x08;
constexpr std::size_t kGrowth = std::size_t{1} << 20U;  // bytes by which the array grows at least

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
  std::string text = "0x";
  for (const std::uint8_t byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned int>(byte));
    text += digits.data();
  }
  return text;
}

void read_header_bytes(ByteSource& source, std::span<std::uint8_t> bytes, const std::string& what) {
  const std::uint64_t start = source.offset();
  const std::size_t got = source.read(bytes);
  if (got < bytes.size()) {
    source.fail(start + got, "the file ends within " + what + kFetchAgain);
  }
}

std::size_t read_magic(ByteSource& source, std::size_t expected_dimensions) {
  std::array<std::uint8_t, 4> magic{};
  read_header_bytes(source, magic, "the 4 bytes of the idx header");
  const std::array<std::uint8_t, 4> wanted = {0, 0, kUnsignedBytes, static_cast<std::uint8_t>(expected_dimensions)};
  if (magic != wanted) {
    source.fail(0, "expected " + hexadecimal(wanted) + " (an idx file of unsigned bytes with " +
                       std::to_string(expected_dimensions) + " dimension(s)), found " + hexadecimal(magic) +
                       "; are images and labels swapped, or is this another kind of file?");
  }
  return magic[3];
}

std::vector<std::uint32_t> read_dimensions(ByteSource& source, const IdxShape& expected) {
  std::vector<std::uint32_t> dimensions;
  for (std::size_t axis = 0; axis < expected.size(); ++axis) {
    std::array<std::uint8_t, 4> bytes{};
    const std::uint64_t start = source.offset();
    read_header_bytes(source, bytes, "dimension " + std::to_string(axis));
    const std::uint32_t extent = (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) |
                                 (std::uint32_t{bytes[2]} << 8U) | std::uint32_t{bytes[3]};
    if (expected[axis] && extent != *expected[axis]) {
      source.fail(start, "dimension " + std::to_string(axis) + " is " + std::to_string(extent) + ", expected " +
                             std::to_string(*expected[axis]) + kFetchAgain);
    }
    dimensions.push_back(extent);
  }
  return dimensions;
}

std::uint64_t value_count(const ByteSource& source, const std::vector<std::uint32_t>& dimensions) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : dimensions) {
    count = extent == 0 ? 0 : count * extent;  // below 2^62: at most 2^30 before each product
    if (count > kMaxIdxBytes) {
      source.fail(4, "the header claims more than " + std::to_string(kMaxIdxBytes) + " values, the most that is read" +
                         kFetchAgain);
    }
  }
  return count;
}

std::vector<std::uint8_t> read_values(ByteSource& source, std::uint64_t count) {
  std::vector<std::uint8_t> values;
  while (values.size() < count) {
    const std::size_t start = values.size();
    const std::uint64_t wanted = std::max<std::uint64_t>(kGrowth, start);  // doubling: time linear, memory within twice
    values.resize(start + static_cast<std::size_t>(std::min<std::uint64_t>(wanted, count - start)));
    const std::size_t got = source.read(std::span(values).subspan(start));
    if (start + got < values.size()) {
      source.fail(source.offset(), "the file ends after " + std::to_string(start + got) + " of " +
                                       std::to_string(count) + " values" + kFetchAgain);
    }
  }
  return values;
}

void require_end(ByteSource& source) {
  const std::uint64_t end = source.offset();
  std::array<std::uint8_t, 1> byte{};
  if (source.read(byte) != 0) {
    source.fail(end,
                std::string("expected the end of the file, found more bytes than the header tells of") + kFetchAgain);
  }
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, const IdxShape& expected) {
  ByteSource source(path);
  IdxArray array;
  read_magic(source, expected.size());
  array.dimensions = read_dimensions(source, expected);
  array.values = read_values(source, value_count(source, array.dimensions));
  require_end(source);
  return array;
}

IdxExamples read_idx_examples(const std::filesystem::path& images, const std::filesystem::path& labels,
                              const IdxKind& kind) {
  IdxArray label_array = read_idx(labels, {std::nullopt});
  IdxArray image_array = read_idx(images, {std::nullopt, kind.height, kind.width});
  if (image_array.dimensions[0] != label_array.dimensions[0]) {
    throw std::runtime_error(images.string() + " holds " + std::to_string(image_array.dimensions[0]) + " images, but " +
                             labels.string() + " holds " + std::to_string(label_array.dimensions[0]) +
                             " labels; take both from the same split of the same data set");
  }
  const auto wrong =
      std::ranges::find_if(label_array.values, [&](std::uint8_t label) { return label >= kind.classes; });
  if (wrong != label_array.values.end()) {
    const auto index = wrong - label_array.values.begin();
    throw std::runtime_error(labels.string() + ", byte " + std::to_string(8 + index) + ": label " +
                             std::to_string(*wrong) + " of example " + std::to_string(index) + " is not one of the " +
                             std::to_string(kind.classes) + " classes, 0 to " + std::to_string(kind.classes - 1) +
                             kFetchAgain);
  }
  return {std::move(image_array.values), std::move(label_array.values)};
}

}  // namespace ballast
