#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/worker/data/pictures.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/image_files.h"
#include "worker/data/images/decode.h"
#include "worker/data/images/resize.h"

namespace ballast {
namespace {

using namespace testing;

using Files = std::vector<std::pair<std::string, Bytes>>;

// Two classes of unequal size, PNG and JPEG, of sizes that differ.
Files split_files() {
  return {{"dog/1.png", png(picture(3, 6, 6, 1))}, {"dog/2.jpg", jpeg(picture(3, 12, 9, 2))},
          {"dog/3.png", png(picture(1, 6, 6, 3))}, {"dog/4.png", png(picture(3, 3, 5, 4))},
          {"cat/a.png", png(picture(3, 6, 6, 5))}, {"cat/b.jpeg", jpeg(picture(1, 8, 8, 6))}};
}

void write_folder(const TemporaryFolder& folder, const std::string& name, const Files& files) {
  for (const auto& [path, bytes] : files) {
    folder.write(name + "/" + path, bytes);
  }
}

DataSpec images_spec(const TemporaryFolder& folder, const std::string& train, const std::string& test) {
  DataSpec spec;
  spec.name = "images";
  spec.path = folder.path();
  spec.train = train;
  spec.test = test;
  spec.classes = {"cat", "dog"};
  spec.channels = 3;
  spec.height = 6;
  spec.width = 6;
  spec.train_examples = 6;
  spec.test_examples = 6;
  spec.cache_mb = 1;
  return spec;
}

std::vector<float> features_of(const Dataset& dataset, DataSplit split) {
  return read_examples(dataset, split, 0, dataset.size(split)).features;
}

TEST_CASE("decoded images leave the room that the test split's compressed archive needs") {
  const TemporaryFolder folder;
  folder.write("train.tar.gz", gzip(tar({{"cat/1.png", png(picture(3, 4, 4))}, {"dog/1.png", png(picture(3, 4, 4))}})));
  Files test;
  for (int i = 0; i < 20; ++i) {
    test.emplace_back((i % 2 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".jpg",
                      jpeg(picture(3, 64, 64, static_cast<std::uint32_t>(i))));
  }
  folder.write("test.tar.gz", gzip(tar(test)));
  auto spec = images_spec(folder, "train.tar.gz", "test.tar.gz");
  spec.train_examples = 2;
  spec.height = 407;  // two images of the train split take nearly all of the megabyte
  spec.width = 408;
  const auto dataset = open_dataset(spec, "");
  CHECK(dataset->size(DataSplit::test) == 6);
}

TEST_CASE("a folder, a plain archive and a compressed one are the same data") {
  const TemporaryFolder folder;
  auto files = split_files();
  write_folder(folder, "train", files);
  for (auto& [path, bytes] : files) {
    path.insert(0, "any/prefix/");
  }
  folder.write("train.tar", tar(files));
  folder.write("train.tar.gz", gzip(tar(files)));
  const auto by_folder = open_dataset(images_spec(folder, "train", "train"), "");
  for (const std::string archive : {"train.tar", "train.tar.gz"}) {
    const auto other = open_dataset(images_spec(folder, archive, "train"), "");
    CHECK(other->digest() == by_folder->digest());
    CHECK(features_of(*other, DataSplit::train) == features_of(*by_folder, DataSplit::train));
  }
}

TEST_CASE("examples are decoded, resized and normalised images with the label of their folder") {
  const TemporaryFolder folder;
  write_folder(folder, "train", split_files());
  auto spec = images_spec(folder, "train", "train");
  spec.mean = {0.5, 0.25, 0.125};
  spec.deviation = {0.5, 0.2, 0.1};
  const auto dataset = open_dataset(spec, "");
  const auto examples = read_examples(*dataset, DataSplit::train, 0, 6);
  // At (k + 1/2) / n: dog 1/8, cat 1/4, dog 3/8, dog 5/8, cat 3/4, dog 7/8.
  CHECK(examples.labels == std::vector<std::int32_t>{1, 0, 1, 1, 0, 1});
  CHECK(dataset->label(DataSplit::train, 4) == 0);
  Bytes pixels(108);
  resize(decode_image(jpeg(picture(3, 12, 9, 2))), 6, 6, pixels);  // dog/2.jpg
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto mean = static_cast<float>(spec.mean[i / 36]);
    const auto deviation = static_cast<float>(spec.deviation[i / 36]);
    REQUIRE(examples.features[2 * 108 + i] == (static_cast<float>(pixels[i]) / 255.0F - mean) / deviation);
  }
}

TEST_CASE("kept images are those that are decoded anew at each reading, whoever reads at once") {
  const TemporaryFolder folder;
  write_folder(folder, "train", split_files());
  auto spec = images_spec(folder, "train", "train");
  spec.cache_mb = 0;
  const auto anew = features_of(*open_dataset(spec, ""), DataSplit::train);
  spec.cache_mb = 1;
  const auto kept = open_dataset(spec, "");
  std::array<std::vector<float>, 4> read;
  {
    std::vector<std::jthread> threads;
    for (auto& features : read) {
      threads.emplace_back([&] {
        for (int repeat = 0; repeat < 3; ++repeat) {
          features = features_of(*kept, DataSplit::train);
        }
      });
    }
  }
  for (const auto& features : read) {
    CHECK(features == anew);
  }
}

TEST_CASE("hidden files, files in no folder and readmes of other folders are no examples") {
  const TemporaryFolder folder;
  write_folder(folder, "train", split_files());
  folder.write("train/README.txt", {1});
  folder.write("train/.cache/thumb.png", {1});
  folder.write("train/dog/.DS_Store", {1});
  folder.write("train/notes/licence.txt", {1});
  CHECK(features_of(*open_dataset(images_spec(folder, "train", "train"), ""), DataSplit::train).size() == 6 * 108);
}

TEST_CASE("what does not fit the job is refused by name") {
  const TemporaryFolder folder;
  write_folder(folder, "train", split_files());
  const auto refused = [&](const DataSpec& spec) { return error_of([&] { open_dataset(spec, ""); }); };
  auto spec = images_spec(folder, "train", "train");
  spec.train_examples = 7;
  CHECK(contains(refused(spec), "train holds 6 examples where data.train_examples asks for 7"));
  spec = images_spec(folder, "train", "train");
  spec.classes = {"cat"};
  CHECK(contains(refused(spec), "dog/1.png lies in a folder that is none of data.classes"));
  spec.classes = {"cat", "dog", "eel"};
  CHECK(contains(refused(spec),
                 "train: holds no folder 'eel' with images of that class of data.classes; add some, or "
                 "take the class out"));
  CHECK(contains(refused(images_spec(folder, "elsewhere", "train")),
                 "elsewhere: cannot be read: No such file or directory; correct data.train"));
  spec = images_spec(folder, "train", "train");
  spec.path = folder.path() / "nowhere";
  CHECK(contains(refused(spec), "data.path is " + spec.path + ", which is no folder"));
  folder.write("twice.tar", tar({{"a/dog/1.png", {1}}, {"b/dog/1.png", {2}}}));
  CHECK(contains(refused(images_spec(folder, "twice.tar", "train")), "dog/1.png: occurs twice"));
  folder.write("cut.tar", tar({{"a/dog/1.png", {1}}}, false));
  CHECK(contains(refused(images_spec(folder, "cut.tar", "train")), "cut.tar, byte 1024: the archive is cut short"));
  folder.write("large.tar.gz", gzip(tar({{"dog/1.png", Bytes(1100000)}})));
  CHECK(contains(refused(images_spec(folder, "large.tar.gz", "train")), "raise data.cache_mb, or unpack the archive"));
}

TEST_CASE("a class may have no image in the test split") {
  const TemporaryFolder folder;
  write_folder(folder, "train", split_files());
  write_folder(folder, "test", {{"dog/1.png", png(picture(3, 6, 6, 1))}, {"dog/2.png", png(picture(3, 6, 6, 2))}});
  auto spec = images_spec(folder, "train", "test");
  spec.test_examples = 2;
  const auto dataset = open_dataset(spec, "");
  CHECK(read_examples(*dataset, DataSplit::test, 0, 2).labels == std::vector<std::int32_t>{1, 1});
  std::swap(spec.train, spec.test);
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "test: holds no folder 'cat'"));
}

TEST_CASE("an image that cannot be decoded fails its reading with path, byte and reason") {
  const TemporaryFolder folder;
  auto files = split_files();
  files[1].second.resize(100);  // dog/2.jpg
  write_folder(folder, "train", files);
  const auto dataset = open_dataset(images_spec(folder, "train", "train"), "");
  CHECK_NOTHROW(read_examples(*dataset, DataSplit::train, 0, 2));
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto error = error_of([&] { read_examples(*dataset, DataSplit::train, 2, 1); });
    CHECK(contains(error, "train/dog/2.jpg, byte 100: "));
    CHECK(contains(error, "set data.corrupt: skip"));
  }
}

TEST_CASE("with skip, the next of its class takes a corrupt image's place, wherever reading begins") {
  const TemporaryFolder folder;
  auto files = split_files();
  files[1].second.resize(100);   // dog/2.jpg
  files[2].second = {'n', 'o'};  // dog/3.png
  files[5].second = {};          // cat/b.jpeg: the last cat, so that the first takes its place
  write_folder(folder, "train", files);
  auto spec = images_spec(folder, "train", "train");
  spec.corrupt = "skip";
  for (const std::uint64_t cache : {0U, 1U}) {
    spec.cache_mb = cache;
    const auto dataset = open_dataset(spec, "");
    const auto at = [&](std::uint32_t index) { return read_examples(*dataset, DataSplit::train, index, 1); };
    const std::vector<std::uint32_t> order =
        cache == 0 ? std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5} : std::vector<std::uint32_t>{3, 5, 2, 4, 1, 0};
    std::array<std::vector<float>, 6> features;
    CHECK(dataset->corrupt() == 0);  // nobody has come to them
    for (const auto index : order) {
      features[index] = at(index).features;
    }
    CHECK(dataset->corrupt() == 3);
    for (const auto index : order) {
      at(index);
    }
    CHECK(dataset->corrupt() == 3);
    CHECK(features[2] == features[5]);  // dog/4.png for dog/2.jpg
    CHECK(features[3] == features[5]);  // and for dog/3.png
    CHECK(features[4] == features[1]);  // cat/a.png for cat/b.jpeg
    CHECK(features[0] != features[5]);
    CHECK(at(4).labels[0] == 0);
    CHECK(dataset->size(DataSplit::train) == 6);
  }
  folder.write("train/cat/a.png", {1});
  const auto none = open_dataset(spec, "");
  CHECK(contains(error_of([&] { read_examples(*none, DataSplit::train, 1, 1); }),
                 "no example of its class can be decoded in its place"));
}

TEST_CASE("data whose bytes differ anywhere has another digest") {
  const TemporaryFolder folder;
  auto files = split_files();
  write_folder(folder, "one", files);
  files[4].second = png(picture(3, 6, 6, 99));
  write_folder(folder, "other", files);
  CHECK(open_dataset(images_spec(folder, "one", "one"), "")->digest() !=
        open_dataset(images_spec(folder, "other", "one"), "")->digest());
}

TEST_CASE("every part of the order of examples holds all classes in proportion") {
  std::vector<ImageFile> files;
  for (std::uint32_t i = 0; i < 300; ++i) {
    files.push_back({i < 100 ? "a" : "b", std::to_string(1000 + i), 0, 1});
  }
  const auto examples = spread_examples(files, {"a", "b"}, "set");
  REQUIRE(examples.size() == 300);
  for (std::size_t begin = 0; begin < 300; begin += 30) {
    const auto of_a = std::count_if(examples.begin() + static_cast<std::ptrdiff_t>(begin),
                                    examples.begin() + static_cast<std::ptrdiff_t>(begin + 30),
                                    [](const auto& example) { return example.label == 0; });
    CHECK(of_a == 10);
  }
  CHECK(class_folders({{"b", "1.png"}, {"a", "2.JPG"}, {"notes", "x.txt"}}) == std::vector<std::string>{"a", "b"});
}

}  // namespace
}  // namespace ballast
