#include "worker/data/idx.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>

#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using namespace testing;

const IdxShape kAnyVector = {std::nullopt};
const IdxShape kImages = {std::nullopt, 28, 28};

TEST_CASE("idx files are read plain and compressed, whatever their names") {
  const TemporaryFolder folder;
  const Bytes file = idx({3, 28, 28}, image_values(3));
  for (const auto& path : {folder.write("plain", file), folder.write("plain.gz", file),
                           folder.write("packed.gz", gzip(file)), folder.write("packed", gzip(file))}) {
    const IdxArray array = read_idx(path, kImages);
    CHECK(array.dimensions == std::vector<std::uint32_t>{3, 28, 28});
    CHECK(array.values == image_values(3));
  }
}

TEST_CASE("arrays larger than any buffer come back whole") {
  const TemporaryFolder folder;
  const std::uint32_t count = 3000;  // 2.3 MB: several growths of the array, many windows
  const Bytes file = idx({count, 28, 28}, image_values(count));
  CHECK(read_idx(folder.write("plain", file), kImages).values == image_values(count));
  CHECK(read_idx(folder.write("packed", gzip(file)), kImages).values == image_values(count));
}

TEST_CASE("several gzip members are one file") {
  const TemporaryFolder folder;
  const Bytes file = idx({3, 28, 28}, image_values(3));
  Bytes packed = gzip(Bytes(file.begin(), file.begin() + 1000));
  const Bytes rest = gzip(Bytes(file.begin() + 1000, file.end()));
  packed.insert(packed.end(), rest.begin(), rest.end());
  CHECK(read_idx(folder.write("two", packed), kImages).values == image_values(3));
}

TEST_CASE("an empty array is an array") {
  const TemporaryFolder folder;
  CHECK(read_idx(folder.write("none", idx({0}, {})), kAnyVector).values.empty());
  CHECK(read_idx(folder.write("none.gz", gzip(idx({0}, {}))), kAnyVector).values.empty());
}

TEST_CASE("every truncation is refused, with the file and the offset named") {
  const TemporaryFolder folder;
  const Bytes file = idx({5}, label_values(5));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto path = folder.write("short", Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
    const std::string error = error_of([&] { read_idx(path, kAnyVector); });
    CHECK(contains(error, path.string() + ", byte " + std::to_string(size) + ":"));
    CHECK(contains(error, "the file ends"));
  }
}

TEST_CASE("every truncation of a compressed file is refused") {
  const TemporaryFolder folder;
  const Bytes packed = gzip(idx({5, 28, 28}, image_values(5)));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const auto path =
        folder.write("short.gz", Bytes(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size)));
    CHECK(contains(error_of([&] { read_idx(path, kImages); }), path.string()));
  }
}

TEST_CASE("every flipped byte of a compressed file is refused or harmless") {
  const TemporaryFolder folder;
  const Bytes values = image_values(2);
  const Bytes packed = gzip(idx({2, 28, 28}, values));
  int refused = 0;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    Bytes damaged = packed;
    damaged[i] ^= 0x55U;
    const auto path = folder.write("damaged.gz", damaged);
    Bytes read;
    const std::string error = error_of([&] { read = read_idx(path, kImages).values; });
    if (error.empty()) {
      CHECK(read == values);  // a field of the gzip header that says nothing about the content
    } else {
      CHECK(contains(error, path.string()));
      ++refused;
    }
  }
  CHECK(refused > static_cast<int>(packed.size()) - 10);
}

TEST_CASE("bytes behind the end are refused") {
  const TemporaryFolder folder;
  Bytes file = idx({5}, label_values(5));
  Bytes packed = gzip(file);
  packed.push_back(0);
  CHECK(contains(error_of([&] { read_idx(folder.write("tail.gz", packed), kAnyVector); }), "no gzip member follow"));
  file.push_back(1);
  for (const auto& path : {folder.write("long", file), folder.write("long.gz", gzip(file))}) {
    const std::string error = error_of([&] { read_idx(path, kAnyVector); });
    CHECK(contains(error, path.string() + ", byte 13:"));
    CHECK(contains(error, "expected the end of the file"));
  }
}

TEST_CASE("another magic number is refused with both spelt out") {
  const TemporaryFolder folder;
  const auto labels = folder.write("labels", idx({5}, label_values(5)));
  const std::string error = error_of([&] { read_idx(labels, kImages); });
  CHECK(contains(error, labels.string() + ", byte 0: expected 0x00000803"));
  CHECK(contains(error, "found 0x00000801"));
  CHECK(contains(error, "swapped"));
  Bytes floats = idx({5}, label_values(5));
  floats[2] = 0x0D;
  CHECK(contains(error_of([&] { read_idx(folder.write("floats", floats), kAnyVector); }), "found 0x00000d01"));
}

TEST_CASE("other image sizes are refused where the header tells of them") {
  const TemporaryFolder folder;
  const auto path = folder.write("wide", idx({1, 28, 29}, Bytes(28 * 29)));
  CHECK(contains(error_of([&] { read_idx(path, kImages); }), ", byte 12: dimension 2 is 29, expected 28"));
}

TEST_CASE("a header that claims what the file lacks costs no memory") {
  const TemporaryFolder folder;
  const auto huge = folder.write("huge", idx({0xffffffffU, 28, 28}, Bytes(100)));
  CHECK(contains(error_of([&] { read_idx(huge, kImages); }), "claims more than 1073741824 values"));
  // Products that overflow 64 bits, and a zero that would hide them.
  const IdxShape three = {std::nullopt, std::nullopt, std::nullopt};
  const auto overflow = folder.write("overflow", idx({0xffffffffU, 0xffffffffU, 0xffffffffU}, Bytes(100)));
  CHECK(contains(error_of([&] { read_idx(overflow, three); }), "claims more than"));
  const auto large = folder.write("large", idx({1U << 30U}, Bytes(100)));
  CHECK(contains(error_of([&] { read_idx(large, kAnyVector); }), "ends after 100 of 1073741824 values"));
}

TEST_CASE("what is no regular file is refused at once") {
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { read_idx(folder.path() / "missing", kAnyVector); }), "missing: cannot be opened"));
  CHECK(contains(error_of([&] { read_idx(folder.path(), kAnyVector); }), "is not a regular file"));
  const auto pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { read_idx(pipe, kAnyVector); }), "is not a regular file"));
}

TEST_CASE("images and labels must belong together") {
  const TemporaryFolder folder;
  const auto images = folder.write("images", idx({4, 28, 28}, image_values(4)));
  const auto labels = folder.write("labels", idx({4}, label_values(4)));
  const IdxExamples examples = read_idx_examples(images, labels);
  CHECK(examples.count() == 4);
  CHECK(examples.images == image_values(4));
  CHECK(examples.labels == label_values(4));

  const auto fewer = folder.write("fewer", idx({3}, label_values(3)));
  const std::string mismatch = error_of([&] { read_idx_examples(images, fewer); });
  CHECK(contains(mismatch, images.string() + " holds 4 images"));
  CHECK(contains(mismatch, fewer.string() + " holds 3 labels"));

  const auto wrong = folder.write("wrong", idx({4}, {0, 9, 10, 3}));
  CHECK(contains(error_of([&] { read_idx_examples(images, wrong); }),
                 wrong.string() + ", byte 10: label 10 of example 2"));
}

}  // namespace
}  // namespace ballast
