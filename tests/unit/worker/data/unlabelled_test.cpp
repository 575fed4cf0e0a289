// A user's own examples without labels, and where a data set's examples lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "common/job/model_parameters.h"
#include "tests/unit/worker/data/pictures.h"
#include "worker/data/datasets.h"
#include "worker/data/examples.h"
#include "worker/data/unlabelled/examples_stream.h"

namespace ballast {
namespace {

using namespace testing;
namespace fs = std::filesystem;

struct Streamed {
  StreamedExample example;
  SlotExamples read;
};

// All of them; relative to `folder`, so that tests can name them.
std::vector<Streamed> streamed(ExampleStream& stream, const DataSpec& spec, const fs::path& folder) {
  std::vector<Streamed> all;
  while (true) {
    SlotExamples read(example_shape(spec), 1);
    auto example = stream.next(read.room(0));
    if (!example) {
      return all;
    }
    read.pad();
    if (example->source.starts_with(folder.string())) {
      example->source = example->source.substr(folder.string().size() + 1);
    }
    all.push_back({std::move(*example), std::move(read)});
  }
}

std::vector<Streamed> streamed(const DataSpec& spec, const TemporaryFolder& folder, const std::string& input) {
  return streamed(*open_unlabelled(spec, "", folder.path() / input), spec, folder.path());
}

std::vector<std::string> sources_of(const std::vector<Streamed>& all) {
  std::vector<std::string> sources;
  for (const auto& one : all) {
    sources.push_back(one.example.source + (one.example.fault.empty() ? "" : " (" + one.example.fault + ")"));
  }
  return sources;
}

DataSpec own_images(const TemporaryFolder& folder) {
  DataSpec spec;
  spec.name = "images";
  spec.path = folder.path();
  spec.train = "split";
  spec.test = "split";
  spec.classes = {"cat", "dog"};
  spec.channels = 3;
  spec.height = 6;
  spec.width = 5;
  spec.mean = {0.5, 0.25, 0.125};
  spec.deviation = {0.5, 0.25, 2};
  spec.train_examples = 4;
  spec.test_examples = 4;
  return spec;
}

const std::vector<std::pair<std::string, Bytes>>& own_files() {
  static const std::vector<std::pair<std::string, Bytes>> files = {{"cat/a.png", png(picture(3, 6, 6, 1))},
                                                                   {"cat/b.jpg", jpeg(picture(1, 12, 9, 2))},
                                                                   {"dog/c.png", png(picture(3, 3, 5, 3))},
                                                                   {"dog/d", png(picture(3, 8, 8, 4))}};
  return files;
}

TEST_CASE("images of a folder or an archive are read as the job's split reads them, however they are nested") {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, Bytes>> flat;
  for (const auto& [path, content] : own_files()) {
    folder.write("split/" + path, content);
    folder.write("own/" + path, content);
    flat.emplace_back(path.substr(4), content);
  }
  folder.write("own/deep/er/e.png", own_files()[0].second);
  folder.write("own/.hidden/e.png", own_files()[0].second);
  folder.write("own/notes.txt", bytes("no image"));
  flat.emplace_back("./._a.png", bytes("what a Mac leaves"));
  folder.write("flat.tar", tar(flat));
  folder.write("flat.tar.gz", gzip(tar(flat)));
  const auto spec = own_images(folder);
  const auto dataset = open_dataset(spec, "", DatasetUse::asking);
  std::map<std::string, std::vector<float>> expected;  // by the files' own names
  for (std::uint32_t i = 0; i < 4; ++i) {
    expected[fs::path(dataset->source(DataSplit::test, i)).filename()] =
        read_examples(*dataset, DataSplit::test, i, 1).features;
  }
  REQUIRE(expected.size() == 4);

  const auto stream = open_unlabelled(spec, "", folder.path() / "own");
  const auto nested = streamed(*stream, spec, folder.path());
  CHECK(stream->passed_over() == 1);
  CHECK(sources_of(nested) ==
        std::vector<std::string>{"own/cat/a.png", "own/cat/b.jpg", "own/deep/er/e.png", "own/dog/c.png", "own/dog/d"});
  for (const char* input : {"own", "flat.tar", "flat.tar.gz"}) {
    CAPTURE(input);
    std::size_t compared = 0;
    for (const auto& one : streamed(spec, folder, input)) {
      if (const auto found = expected.find(fs::path(one.example.source).filename()); found != expected.end()) {
        CHECK(one.read.features == found->second);
        ++compared;
      }
    }
    CHECK(compared == 4);
  }
  CHECK(sources_of(streamed(spec, folder, "flat.tar")).front() == "flat.tar/a.png");
  CHECK(sources_of(streamed(spec, folder, "own/dog/d")) == std::vector<std::string>{"own/dog/d"});
}

TEST_CASE("an image that cannot be decoded is told and the next one read") {
  const TemporaryFolder folder;
  auto cut = own_files()[0].second;
  cut.resize(60);
  folder.write("own/a.png", cut);
  folder.write("own/b.png", {});
  folder.write("own/c.png", own_files()[2].second);
  folder.write("text.txt", bytes("no image"));
  const auto all = streamed(own_images(folder), folder, "own");
  REQUIRE(all.size() == 3);
  CHECK(contains(all[0].example.fault, "byte "));
  CHECK(all[1].example.fault == "byte 0: the file is empty");
  CHECK(all[2].example.fault.empty());
  const auto named = streamed(own_images(folder), folder, "text.txt");  // an example, for it was named
  REQUIRE(named.size() == 1);
  CHECK(named[0].example.fault == "byte 0: the file is neither a PNG nor a JPEG");
}

TEST_CASE("links are followed, and one that leads back up is refused") {
  const TemporaryFolder folder;
  folder.write("elsewhere/a.png", own_files()[0].second);
  folder.write("own/b.png", own_files()[0].second);
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "own/linked");
  CHECK(sources_of(streamed(own_images(folder), folder, "own")) ==
        std::vector<std::string>{"own/b.png", "own/linked/a.png"});
  fs::create_directory_symlink(folder.path() / "own", folder.path() / "own/up");
  CHECK(contains(error_of([&] { open_unlabelled(own_images(folder), "", folder.path() / "own"); }),
                 "own/up: leads back to the folder"));
}

TEST_CASE("idx files are read for jobs whose images are grey") {
  const TemporaryFolder folder;
  folder.write("images.idx", idx({2, 6, 5}, Bytes(60, 51)));
  auto spec = own_images(folder);
  CHECK(contains(error_of([&] { open_unlabelled(spec, "", folder.path() / "images.idx"); }),
                 "an idx file holds images of one channel; the job's have 3"));
  spec.channels = 1;
  spec.mean = {0.2};
  spec.deviation = {1};
  const auto all = streamed(spec, folder, "images.idx");
  CHECK(sources_of(all) == std::vector<std::string>{"images.idx[0]", "images.idx[1]"});
  CHECK(all.at(1).read.features == std::vector<float>(30, 51.0F / 255.0F - 0.2F));
}

DataSpec own_table(const std::string& path) {
  using enum CsvColumn::Kind;
  DataSpec spec;
  spec.name = "csv";
  spec.path = path;
  spec.train = "train.csv";
  spec.classes = {"no", "yes"};
  spec.missing = {"NA"};
  spec.columns = {
      {"age", number, 40, 10}, {"id", ignored}, {"sold", label}, {"colour", category, 0, 1, {"red", "blue"}}};
  spec.train_examples = 2;
  return spec;
}

TEST_CASE("rows are read with and without the columns that are predicted or ignored") {
  const TemporaryFolder folder;
  folder.write("train.csv", bytes("sold,colour,age,id\nyes,blue,50,1\nno,NA,NA,2\n"));
  auto spec = own_table(folder.path());
  const auto expected = read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2).features;
  REQUIRE(expected == std::vector<float>{1, 0, 1, 0, 0, 0});
  const auto check = [&](const std::string& text, std::uint64_t first_line) {
    CAPTURE(text);
    folder.write("own.csv", bytes(text));
    const auto all = streamed(spec, folder, "own.csv");
    REQUIRE(all.size() == 2);
    CHECK(all[0].example.source == "own.csv:" + std::to_string(first_line));
    CHECK(all[1].example.source == "own.csv:" + std::to_string(first_line + 1));
    auto features = all[0].read.features;
    features.insert(features.end(), all[1].read.features.begin(), all[1].read.features.end());
    CHECK(features == expected);
  };
  check("age,colour\n50,blue\nNA,NA\n", 2);
  check("colour,sold,age,more\nblue,,50,x\nNA,what,NA,y\n", 2);  // what stands where a class would is not read
  spec.header = false;
  check("50,1,blue\nNA,2,NA\n", 1);
  check("50,1,,blue\nNA,2,yes,NA\n", 1);
}

TEST_CASE("a row that cannot be read is told with its column, and one without a feature's column ends the reading") {
  const TemporaryFolder folder;
  const auto spec = own_table(folder.path());
  folder.write("own.csv", bytes("age,colour\nold,red\n40,green\n40\n40,red\n"));
  const auto sources = sources_of(streamed(spec, folder, "own.csv"));
  REQUIRE(sources.size() == 4);
  CHECK(contains(sources[0], "own.csv:2 (column 1: age: 'old' is no number"));
  CHECK(contains(sources[1], "own.csv:3 (column 2: colour: 'green' is none of the column's values"));
  CHECK(contains(sources[2], "own.csv:4 (column 1: the row has 1 fields where 2 are needed"));
  CHECK(sources[3] == "own.csv:5");
  folder.write("own.csv", bytes("age,sold\n40,yes\n"));
  CHECK(contains(error_of([&] { streamed(spec, folder, "own.csv"); }), "own.csv, line 1: names no column 'colour'"));
}

TEST_CASE("messages are read as the job's split reads them") {
  const TemporaryFolder folder;
  folder.write("words.txt", bytes("<pad>\n<unk>\nred\nblue\ncar\n"));
  const std::vector<std::pair<std::string, std::string>> messages = {
      {"a", "From: x\n\nRed car\n"}, {"b", "From: x\n\nblue bus blue car\n"}, {"c", "From: x\n\n"}};
  std::vector<std::pair<std::string, Bytes>> archived;
  for (const auto& [name, text] : messages) {
    folder.write("data/split/news/" + name, bytes(text));
    folder.write("own/x/" + name, bytes(text));
    archived.emplace_back(name, bytes(text));
  }
  folder.write("data/words.txt", bytes("<pad>\n<unk>\nred\nblue\ncar\n"));
  folder.write("own.tar", tar(archived));
  DataSpec spec;
  spec.name = "text";
  spec.path = folder.path() / "data";
  spec.train = "split";
  spec.classes = {"news"};
  spec.train_examples = 3;
  spec.steps = 3;
  spec.vocabulary = 5;
  spec.vocabulary_file = "words.txt";
  spec.strip.headers = true;
  const auto dataset = open_dataset(spec, "", DatasetUse::asking);
  for (const char* input : {"own", "own.tar"}) {
    CAPTURE(input);
    const auto all = streamed(spec, folder, input);
    REQUIRE(all.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
      const auto expected = read_examples(*dataset, DataSplit::train, i, 1);
      CHECK(all[i].read.tokens == expected.tokens);
      CHECK(all[i].read.lengths == expected.lengths);
      CHECK(fs::path(all[i].example.source).filename() == messages[i].first);
      CHECK(dataset->source(DataSplit::train, i) == (folder.path() / "data/split/news" / messages[i].first).string());
    }
  }
  CHECK(sources_of(streamed(spec, folder, "own/x/b")) == std::vector<std::string>{"own/x/b"});
  spec.path = folder.path() / "own";
  CHECK(contains(error_of([&] { open_unlabelled(spec, "", folder.path() / "own"); }),
                 "the job's vocabulary is looked for there: name its folder or archive with --data"));
  CHECK_FALSE(open_unlabelled(spec, folder.path() / "data", folder.path() / "own") == nullptr);
}

Bytes npy(const std::vector<float>& values, const std::string& shape) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  auto file = bytes(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n");
  const auto begin = file.size();
  file.resize(begin + values.size() * sizeof(float));
  std::memcpy(file.data() + begin, values.data(), values.size() * sizeof(float));
  return file;
}

TEST_CASE("rows of an array are read with the job's scale, and faults are told by row") {
  const TemporaryFolder folder;
  DataSpec spec;
  spec.name = "npy";
  spec.shape = {2};
  spec.outputs = 3;
  spec.scale = 0.5;
  const auto infinity = std::numeric_limits<float>::infinity();
  folder.write("own.npy", npy({1, 2, 3, infinity, 5, 6}, "(3, 2)"));
  const auto all = streamed(spec, folder, "own.npy");
  REQUIRE(all.size() == 3);
  CHECK(all[0].read.features == std::vector<float>{0.5, 1});
  CHECK(all[1].example.source == "own.npy[1]");
  CHECK(contains(all[1].example.fault, "feature 1 is infinite"));
  CHECK(all[2].read.features == std::vector<float>{2.5, 3});
  folder.write("own.npy", npy({1, 2, 3}, "(1, 3)"));
  CHECK(contains(error_of([&] { streamed(spec, folder, "own.npy"); }),
                 "own.npy has shape (1, 3), but the job's examples have shape (2)"));
}

TEST_CASE("what has no examples without labels is refused with what to do, as is what is not there") {
  const TemporaryFolder folder;
  folder.write("t.txt", bytes("(1 (0 a) (1 b))\n"));
  DataSpec spec;
  for (const char* name : {"trees", "characters", "none"}) {
    spec.name = name;
    CHECK(contains(error_of([&] { open_unlabelled(spec, "", folder.path() / "t.txt"); }),
                   std::string("t.txt: the job's data set, ") + name + ", has no examples without labels"));
  }
  CHECK(contains(error_of([&] { open_unlabelled(spec, "", folder.path() / "u"); }), "u: there is no such file"));
}

TEST_CASE("a data set that is asked about tells corrupt images instead of replacing them") {
  const TemporaryFolder folder;
  for (const auto& [path, content] : own_files()) {
    folder.write("split/" + path, content);
  }
  folder.write("split/cat/b.jpg", {1, 2, 3});
  auto spec = own_images(folder);
  spec.corrupt = "skip";
  spec.validation_examples = 2;
  const auto training = open_dataset(spec, "");
  const auto asked = open_dataset(spec, "", DatasetUse::asking);
  CHECK(asked->digest() == training->digest());
  std::vector<std::string> faulty;
  for (const auto split : {DataSplit::train, DataSplit::validation, DataSplit::test}) {
    for (std::uint32_t i = 0; i < asked->size(split); ++i) {
      const auto theirs = read_examples(*training, split, i, 1);
      const auto ours = read_examples(*asked, split, i, 1);
      CHECK(training->fault(split, i).empty());
      CHECK(asked->label(split, i) == theirs.labels[0]);
      const auto fault = asked->fault(split, i);
      CHECK((fault.empty() ? ours.features == theirs.features : ours.features != theirs.features));
      if (!fault.empty()) {
        CHECK(fault == "byte 0: the file is neither a PNG nor a JPEG");
        faulty.push_back(asked->source(split, i));
      }
    }
  }
  const auto place = (folder.path() / "split/cat/b.jpg").string();
  CHECK(faulty == std::vector<std::string>{place, place});  // of the train file's examples, and of the test split's
  CHECK(asked->corrupt() == 2);
  CHECK(fs::path(asked->source(DataSplit::validation, 0)).filename() ==
        fs::path(asked->source(DataSplit::test, 2)).filename());
}

TEST_CASE("rows and trees lie on lines, which a set keeps only to be asked about, and corrupt ones are passed over") {
  const TemporaryFolder folder;
  folder.write("train.csv", bytes("age,id,sold,colour\n50,1,yes,blue\nold,2,no,red\n30,3,no,red\n"));
  auto spec = own_table(folder.path());
  spec.corrupt = "skip";
  const auto path = (folder.path() / "train.csv").string();
  const auto rows = open_dataset(spec, "", DatasetUse::asking);
  CHECK(rows->source(DataSplit::train, 0) == path + ":2");
  CHECK(rows->source(DataSplit::train, 1) == path + ":4");
  CHECK(open_dataset(spec, "")->source(DataSplit::train, 1).empty());

  folder.write("words.txt", bytes("<pad>\n<unk>\na\n"));
  folder.write("trees.txt", bytes("(1 (0 a) (1 b))\n\n(0 (0 a) (1 b))\n"));
  DataSpec trees;
  trees.name = "trees";
  trees.path = folder.path();
  trees.train = "trees.txt";
  trees.classes = {"no", "yes"};
  trees.steps = 3;
  trees.vocabulary = 3;
  trees.vocabulary_file = "words.txt";
  trees.train_examples = 2;
  CHECK(open_dataset(trees, "", DatasetUse::asking)->source(DataSplit::train, 1) ==
        (folder.path() / "trees.txt").string() + ":3");
}

}  // namespace
}  // namespace ballast
