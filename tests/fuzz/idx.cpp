// Feeds arbitrary files to the reader of idx files.
//
// The first byte says what is expected: labels, images, any two dimensions, or a pair of files, of which the first has
// as many bytes as the second and third byte say. The rest are the files. Each is read as it stands and compressed.
// Beyond not crashing: an array holds what its dimensions say; both forms of a file give the same; examples are
// complete and their labels digits. What is refused must say why, in a line.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/memory_file.h"
#include "worker/data/idx.h"

namespace ballast::fuzz {
namespace {

using Bytes = std::span<const std::uint8_t>;

// One gzip member, made with little memory.
std::vector<std::uint8_t> compressed(Bytes bytes) {
  constexpr int kSmallestGzip = 16 + 9;
  z_stream stream{};
  expect(deflateInit2(&stream, 1, Z_DEFLATED, kSmallestGzip, 1, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  std::vector<std::uint8_t> result(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());  // NOLINT: zlib does not write there
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = result.data();
  stream.avail_out = static_cast<uInt>(result.size());
  expect(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib compresses");
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

bool looks_compressed(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B; }

std::optional<IdxArray> read(Bytes bytes, const IdxShape& shape) {
  const MemoryFile file(bytes);
  try {
    return read_idx(file.path(), shape);
  } catch (const std::runtime_error& error) {
    expect_line(error.what());
    return std::nullopt;
  }
}

void expect_whole(const IdxArray& array, const IdxShape& shape) {
  std::uint64_t values = 1;
  expect(array.dimensions.size() == shape.size(), "an array has the dimensions that were expected");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    expect(array.dimensions[axis] == shape[axis].value_or(array.dimensions[axis]), "a dimension is the one expected");
    values *= array.dimensions[axis];
  }
  expect(array.values.size() == values, "an array has as many values as its dimensions say");
}

void try_array(Bytes bytes, const IdxShape& shape) {
  const auto array = read(bytes, shape);
  if (array) {
    expect_whole(*array, shape);
  }
  if (!looks_compressed(bytes)) {
    const auto again = read(compressed(bytes), shape);
    expect(again.has_value() == array.has_value(), "a file is read alike plain and compressed");
    expect(!again || (again->dimensions == array->dimensions && again->values == array->values),
           "a file says the same plain and compressed");
  }
}

void try_examples(Bytes labels, Bytes images) {
  const MemoryFile label_file(labels);
  const MemoryFile image_file(images);
  try {
    const auto examples = read_idx_examples(image_file.path(), label_file.path());
    expect(examples.images.size() == std::size_t{28 * 28} * examples.count(), "every label has an image");
    expect(std::ranges::all_of(examples.labels, [](auto label) { return label < 10; }), "labels are digits");
  } catch (const std::runtime_error& error) {
    expect_line(error.what());
  }
}

void try_input(std::uint8_t expected, Bytes files) {
  switch (expected % 4) {
    case 0:
      return try_array(files, {std::nullopt});
    case 1:
      return try_array(files, {std::nullopt, 28, 28});
    case 2:
      return try_array(files, {std::nullopt, std::nullopt});
    default:
      break;
  }
  if (files.size() >= 2) {
    const auto rest = files.subspan(2);
    const auto labels = std::min<std::size_t>(files[0] * std::size_t{256} + files[1], rest.size());
    try_examples(rest.first(labels), rest.subspan(labels));
  }
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) {
    ballast::fuzz::try_input(data[0], {data + 1, size - 1});
  }
  return 0;
}
