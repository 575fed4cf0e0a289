#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "worker/data/cifar10.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"

namespace ballast {
namespace {

using namespace testing;

// Record i has label i % 10 and pixels that tell record and place apart.
Bytes records(std::uint32_t count) {
  Bytes bytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % 10));
    for (std::uint32_t pixel = 0; pixel < kCifarPixels; ++pixel) {
      bytes.push_back(static_cast<std::uint8_t>(3 * i + pixel + pixel / 1024));
    }
  }
  return bytes;
}

DataSpec cifar_spec(const TemporaryFolder& folder) {
  DataSpec spec;
  spec.name = "cifar10";
  spec.path = folder.path();
  spec.train = "data_batch_*";
  spec.test = "test_batch.bin";
  spec.train_examples = 20;
  spec.test_examples = 5;
  return spec;
}

void write_cifar(const TemporaryFolder& folder) {
  folder.write("data_batch_1.bin", records(12));
  folder.write("data_batch_2.bin.gz", gzip(records(8)));
  folder.write("test_batch.bin", records(6));
}

TEST_CASE("cifar10's records are labelled planes of three colours, over all files of a split") {
  const TemporaryFolder folder;
  write_cifar(folder);
  auto spec = cifar_spec(folder);
  spec.mean = {0, 0.5, 0};
  spec.deviation = {1, 0.5, 2};
  const auto dataset = open_dataset(spec, "");
  CHECK(dataset->size(DataSplit::train) == 20);
  CHECK(dataset->size(DataSplit::test) == 5);
  CHECK(dataset->shape() == ExampleShape{.channels = 3, .height = 32, .width = 32, .classes = 10});
  const auto bytes = records(8);
  const auto example = read_examples(*dataset, DataSplit::train, 15, 1);  // the fourth of the second file
  CHECK(example.labels[0] == 3);
  for (std::size_t i = 0; i < kCifarPixels; ++i) {
    const float x = static_cast<float>(bytes[3 * 3073 + 1 + i]) / 255.0F;
    REQUIRE(example.features[i] == (i < 1024 ? x : i < 2048 ? (x - 0.5F) / 0.5F : x / 2.0F));
  }
}

TEST_CASE("a file of records that is damaged is refused with its byte") {
  const TemporaryFolder folder;
  const auto refused = [&](const Bytes& bytes, std::uint32_t classes) {
    const auto path = folder.write("batch", bytes);
    PixelSplit split;
    return error_of([&] { append_cifar10(path, classes, split); });
  };
  auto bytes = records(3);
  CHECK(refused(bytes, 10).empty());
  bytes[2 * 3073] = 10;
  CHECK(contains(refused(bytes, 10), "batch, byte 6146: label 10 is not below the 10 of data.classes"));
  bytes.resize(5000);
  CHECK(contains(refused(bytes, 11), "batch, byte 3073: the file ends after 1927 of a record's 3073 bytes"));
  CHECK(contains(refused({}, 10), "batch, byte 0: the file is empty"));
}

TEST_CASE("a star in a name stands for any text, and files come in the order of their names") {
  const TemporaryFolder folder;
  for (const auto* name : {"batch_2", "batch_10", "batch", "other"}) {
    folder.write(name, {1});
  }
  const auto at = [&](const char* name) { return folder.path() / name; };
  CHECK(files_named(folder.path(), "batch_*") == std::vector{at("batch_10"), at("batch_2")});
  CHECK(files_named(folder.path(), "*r") == std::vector{at("other")});
  CHECK(files_named(folder.path(), "missing") == std::vector{at("missing")});
  CHECK(contains(error_of([&] { files_named(folder.path(), "x*"); }), "x*: no file has such a name"));
}

TEST_CASE("a split with fewer records than the job counts on is refused") {
  const TemporaryFolder folder;
  write_cifar(folder);
  auto spec = cifar_spec(folder);
  spec.test_examples = 7;
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "test_batch.bin holds 6 examples where data.test_examples asks for 7; set data.test_examples to 6"));
}

TEST_CASE("any idx files of images and labels are read by name, of the job's size and classes") {
  const TemporaryFolder folder;
  Bytes pixels(4 * 6);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(10 * i);
  }
  folder.write("images.gz", gzip(idx({4, 2, 3}, pixels)));
  folder.write("labels", idx({4}, {0, 11, 2, 1}));
  DataSpec spec;
  spec.name = "idx";
  spec.path = folder.path();
  spec.train = spec.test = "images.gz";
  spec.train_labels = spec.test_labels = "labels";
  spec.height = 2;
  spec.width = 3;
  spec.classes = std::vector<std::string>(12, "name");
  spec.train_examples = 4;
  spec.test_examples = 3;
  const auto dataset = open_dataset(spec, "");
  const auto example = read_examples(*dataset, DataSplit::train, 1, 1);
  CHECK(example.labels[0] == 11);
  CHECK(example.features ==
        std::vector<float>{60 / 255.0F, 70 / 255.0F, 80 / 255.0F, 90 / 255.0F, 100 / 255.0F, 110 / 255.0F});
  CHECK(dataset->size(DataSplit::test) == 3);
  spec.classes.pop_back();
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "label 11 of example 1 is not one of the 11 classes, 0 to 10"));
}

TEST_CASE("a folder that is named but is not there is an error, and one that nobody names is asked for") {
  const Environment data("BALLAST_DATA", "");
  DataSpec spec;
  spec.name = "cifar10";
  CHECK(contains(error_of([&] { data_folder(spec, ""); }), "set data.path, $BALLAST_DATA, or data_path"));
  spec.path = "/nonexistent/data";
  CHECK(contains(error_of([&] { data_folder(spec, ""); }), "data.path is /nonexistent/data, which is no folder"));
  CHECK(contains(error_of([&] { data_folder(spec, "/nonexistent/too"); }),
                 "the worker's data path is /nonexistent/too, which is no folder"));
}

}  // namespace
}  // namespace ballast
