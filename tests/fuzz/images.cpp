// Feeds arbitrary files to the readers of images, archives and records.
//
// The first byte says what the rest is: an image, an archive, an archive as a data set of images, or CIFAR-10 records.
// Beyond not crashing: an image has the pixels that its size says, and is the same when decoded again; an archive's
// files lie within it; whatever can be opened as a data set can be read whole, corrupt examples being replaced or told.
// What is refused must say why, in a line.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fuzz/expect.h"
#include "tests/fuzz/memory_file.h"
#include "worker/data/cifar10.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/images/decode.h"
#include "worker/data/images/resize.h"
#include "worker/data/tar.h"

namespace ballast::fuzz {
namespace {

using Bytes = std::span<const std::uint8_t>;

void try_image(Bytes bytes) {
  try {
    const auto image = decode_image(bytes);
    expect(image.channels == 1 || image.channels == 3, "an image is grey or coloured");
    expect(image.pixels.size() == image.height * image.row_bytes() && !image.pixels.empty(),
           "an image has as many pixels as its size says");
    expect(decode_image(bytes).pixels == image.pixels, "an image is the same when decoded again");
    std::vector<std::uint8_t> small(std::size_t{3} * 5 * 9);
    resize(with_channels(image, 3), 5, 9, small);
  } catch (const BadImage& bad) {
    expect_line(bad.what());
    expect(bad.byte <= bytes.size(), "an image is bad at one of its bytes");
  }
}

void try_archive(Bytes bytes) {
  const MemoryFile file(bytes);
  try {
    TarReader reader(file.path());
    const bool plain = bytes.size() < 2 || bytes[0] != 0x1F || bytes[1] != 0x8B;
    while (const auto found = reader.next()) {
      expect(!plain || found->offset <= bytes.size(), "a file's content begins within the archive");
      expect(found->path.size() <= kMaxTarPath, "a path is no longer than is said");
      std::vector<std::uint8_t> some(static_cast<std::size_t>(std::min<std::uint64_t>(found->size, 1000)));
      reader.read(some);
    }
  } catch (const std::runtime_error& error) {
    expect_line(error.what());
  }
}

// Two classes, as the inputs have them.
void try_set(Bytes bytes, bool skips) {
  const MemoryFile file(bytes);
  DataSpec spec;
  spec.name = "images";
  spec.path = "/proc/self/fd";
  spec.train = spec.test = file.name();
  spec.classes = {"a", "b"};
  spec.height = 4;
  spec.width = 3;
  spec.train_examples = 2;
  spec.test_examples = 1;
  spec.cache_mb = 1;
  spec.corrupt = skips ? "skip" : "fatal";
  try {
    const auto set = open_dataset(spec, "");
    expect(set->size(DataSplit::train) == 2, "a set has as many examples as the job says");
    const auto examples = read_examples(*set, DataSplit::train, 0, 2);
    expect(examples.labels[0] >= 0 && examples.labels[0] < 2, "a label is one of the classes");
  } catch (const std::runtime_error& error) {
    expect_line(error.what());
  }
}

void try_records(Bytes bytes) {
  const MemoryFile file(bytes);
  PixelSplit split;
  try {
    append_cifar10(file.path(), 10, split);
    expect(split.pixels.size() == kCifarPixels * split.count(), "each record has its pixels");
  } catch (const std::runtime_error& error) {
    expect_line(error.what());
  }
}

void try_input(std::uint8_t kind, Bytes bytes) {
  switch (kind % 5) {
    case 0:
      return try_image(bytes);
    case 1:
      return try_archive(bytes);
    case 2:
      return try_set(bytes, false);
    case 3:
      return try_set(bytes, true);
    default:
      return try_records(bytes);
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
