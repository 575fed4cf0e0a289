// `ballast data describe` of folders that hold more than examples, or whose names are not quite the usual ones.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/data/describe.h"
#include "tests/unit/worker/data/files.h"
#include "tests/unit/worker/data/pictures.h"
#include "worker/data/class_files.h"

namespace ballast {
namespace {

using testing::bytes;
using testing::contains;
using testing::error_of;
using Words = std::vector<std::string>;

void write_images(const testing::TemporaryFolder& folder) {
  for (const std::string split : {"train", "test"}) {
    for (const std::string name : {"cat", "dog"}) {
      folder.write(split + "/" + name + "/1.png", testing::png(testing::picture(3, 4, 5)));
    }
  }
}

TEST_CASE("files of images that no job reads are told by number and the first by name") {
  const testing::TemporaryFolder folder;
  write_images(folder);
  const auto root = folder.path();
  folder.write("train/cat/more/b.png", testing::png(testing::picture(3, 4, 5)));
  folder.write("train/cat/more/deep/a.png", testing::png(testing::picture(3, 4, 5)));
  folder.write("train/cat/.cache/x.png", bytes("hidden"));
  folder.write("train/cat/.DS_Store", bytes("hidden"));
  folder.write("train/3.png", testing::png(testing::picture(3, 4, 5)));
  std::filesystem::create_symlink(root / "none.png", root / "train/dog/link.png");
  std::filesystem::create_directory_symlink(root / "train", root / "train/dog/circle");
  const auto described = describe({.folder = root});
  CHECK(contains(described.section, "# train: 1 cat, 1 dog\n  train_examples: 2\n"));
  const auto train = (root / "train").string();
  CHECK(described.warnings ==
        Words{"train: files in folders within a class's folder, which no job reads: 3, the first " + train +
                  "/cat/more/b.png; examples lie in SPLIT/CLASS/FILE: move them there, or take them away",
              "train: files in no class's folder, which no job reads: 1, " + train +
                  "/3.png; examples lie in SPLIT/CLASS/FILE: move them there, or take them away",
              "train: links that lead nowhere, which no job reads: 1, " + train +
                  "/dog/link.png; correct or remove them"});
}

TEST_CASE("files among images that are none count as examples, as a worker takes them, and are told with what to do") {
  const testing::TemporaryFolder folder;
  write_images(folder);
  folder.write("train/cat/Thumbs.db", bytes("\xD0\xCF\x11\xE0"));
  folder.write("train/cat/notes.txt", bytes("of the cats"));
  const auto described = describe({.folder = folder.path()});
  CHECK(contains(described.section, "# train: 3 cat, 1 dog; 2 corrupt\n  train_examples: 4\n"));
  CHECK(described.corrupt.size() == 2);
  REQUIRE(described.warnings.size() == 1);
  CHECK(contains(described.warnings[0],
                 "train: files that are no images by name or content, but count as examples: 2, the first " +
                     (folder.path() / "train/cat/Thumbs.db").string() + "; take them away: a job reads each file"));
}

TEST_CASE("a class without test images is told, and taken, as a job takes it") {
  const testing::TemporaryFolder folder;
  write_images(folder);
  folder.write("train/eel/1.png", testing::png(testing::picture(3, 4, 5)));
  const auto described = describe({.folder = folder.path()});
  CHECK(contains(described.section, "classes: [cat, dog, eel]"));
  CHECK(described.warnings ==
        Words{"test: no image of class 'eel', so that evaluations will not tell how well it is known"});
}

TEST_CASE("images that lie a folder too deep are told where none is found") {
  const testing::TemporaryFolder folder;
  folder.write("train/all/cat/1.png", testing::png(testing::picture(3, 4, 5)));
  folder.write("test/all/cat/1.png", testing::png(testing::picture(3, 4, 5)));
  CHECK(contains(error_of([&] { describe({.folder = folder.path()}); }),
                 "images lie in one folder a class, and not in folders within it as " +
                     (folder.path() / "train/all/cat/1.png").string()));
}

TEST_CASE("files beside messages are told alike of folders and archives, and messages that are no text") {
  const testing::TemporaryFolder folder;
  const std::vector<std::pair<std::string, testing::Bytes>> files = {
      {"train/a/1", bytes("one")},
      {"train/b/1", bytes("two")},
      {"train/b/Thumbs.db", bytes(std::string("x\0y", 3))},
      {"train/a/sub/2", bytes("deep")},
      {"train/readme", bytes("none")},
      {"train/a/.hidden/3", bytes("hidden")}};
  for (const auto& [name, content] : files) {
    folder.write(name, content);
  }
  folder.write("set.tar", testing::tar(files));
  const auto warnings = [](const std::filesystem::path& root) {
    return describe({.folder = root, .kind = "text", .train = "train"}).warnings;
  };
  const auto told = [&](const std::string& root) {
    return Words{
        "train: files in folders within a class's folder, which no job reads: 1, " + root +
            "train/a/sub/2; examples lie in SPLIT/CLASS/FILE: move them there, or take them away",
        "train: files in no class's folder, which no job reads: 1, " + root +
            "train/readme; examples lie in SPLIT/CLASS/FILE: move them there, or take them away",
        "train: files that count as messages, but have bytes that are 0, and are hardly texts: 1, "
        "train/b/Thumbs.db; take them away if they are none: a job reads each file of a class's folder, unless "
        "its name begins with a dot"};
  };
  CHECK(warnings(folder.path()) == told(folder.path().string() + "/"));
  CHECK(warnings(folder.path() / "set.tar") == told(""));
}

TEST_CASE("what lies aside is counted in folders of any depth and behind no links") {
  const testing::TemporaryFolder folder;
  std::string deep = "s/c";
  for (int i = 0; i < 40; ++i) {
    deep += "/d";
  }
  folder.write(deep + "/f", bytes("x"));
  folder.write("s/c/1", bytes("x"));
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "s/c/up");
  const auto aside = left_aside(folder.path() / "s");
  CHECK(aside.nested.count == 2);  // a folder too deep and a link, each as one
  CHECK(aside.outside.count == 0);
  CHECK(contains(error_of([&] { left_aside(folder.path() / "none"); }), "none: cannot be read: No such file"));
}

TEST_CASE("names that are nearly known are told with what is amiss") {
  const auto refused = [](const Words& names, const DescribeOptions& options, const std::string& why) {
    const testing::TemporaryFolder folder;
    for (const auto& name : names) {
      folder.write(name, bytes("x,y\n1,2\n"));
    }
    auto with_folder = options;
    with_folder.folder = folder.path();
    const auto error = error_of([&] { describe(with_folder); });
    CAPTURE(error);
    CHECK(contains(error, why));
    CHECK_FALSE(contains(error, "no files of a data set are known"));
  };
  refused({"Train.csv"}, {}, "csv: 'Train.csv' is there, but names are known in small letters alone (--train)");
  refused({"a-train.csv", "b-train.csv"}, {},
          "csv: 2 tables have 'train' in their names: a-train.csv, b-train.csv (--train)");
  refused({"Train/a/1.png", "test/a/1.png"}, {},
          "images: 'Train' is there, but names are known in small letters alone (--train)");
  refused({"train/a/1.png"}, {},
          "images: there is no folder or archive with 'test' in its name (--test); where no images are kept for tests, "
          "move a part of each class's files into a folder of their own (test/CLASS/FILE)");
  refused({"a/1.png"}, {.kind = "images", .train = "."},
          "move a part of each class's files into a folder of their own");
  refused({"train1/a/1.png", "train2/a/1.png", "test/a/1.png"}, {},
          "images: 2 folders or archives have 'train' in their names: train1, train2 (--train)");
  refused({"X_train.npy", "y_train.npy"}, {},
          "npy: 'X_train.npy' is there, but names are known in small letters alone (--train)");
  refused({"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"}, {},
          "idx: there is no file t10k-labels-idx1-ubyte (--test-labels)");
  refused({"Train.txt"}, {.kind = "trees"},
          "kind trees are not known by their names here: 'Train.txt' is there, but names are known in small letters");
  refused({"rows.dat"}, {.train = "rows.dat"}, "what 'rows.dat' is cannot be told by its name; say it with --as");
  refused({"rows.dat"}, {.train = "row.dat"}, "--train: there is no 'row.dat' here; correct it");
}

TEST_CASE("one folder as both splits is told") {
  const testing::TemporaryFolder folder;
  write_images(folder);
  const auto warnings_of = [&](const std::string& train, const std::string& test) {
    return describe({.folder = folder.path(), .kind = "images", .train = train, .test = test}).warnings;
  };
  CHECK(warnings_of("train", "test").empty());
  for (const std::string test : {"train", "./train", "test/../train"}) {
    CAPTURE(test);
    const auto warnings = warnings_of("train", test);
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0], "the test split is the training split, 'train': "));
    CHECK(contains(warnings[0], "name it with --test"));
  }
}

TEST_CASE("a file in place of a folder is told with how to name both") {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("my train.csv", bytes("x,y\n1,2\n"));
  CHECK(contains(error_of([&] { describe({.folder = file}); }),
                 "my train.csv: is a file: name the folder that it lies in, and say --train 'my train.csv'"));
}

TEST_CASE("of several tables that may be the test split none is taken, which is told") {
  const testing::TemporaryFolder folder;
  for (const std::string name : {"train.csv", "test1.csv", "test2.csv"}) {
    folder.write(name, bytes("x,y\n1,2\n2,3\n"));
  }
  const auto described = describe({.folder = folder.path(), .label = "y"});
  CHECK_FALSE(contains(described.section, "  test"));
  CHECK(described.warnings == Words{"there is no test split: 2 tables have 'test' in their names: test1.csv, "
                                    "test2.csv; name it with --test"});
}

}  // namespace
}  // namespace ballast
