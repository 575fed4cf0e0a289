// What `ballast data describe` prints is a job's section as it stands: `ballast check` takes it. And which options go
// together.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/before/check.h"
#include "cli/data/describe.h"
#include "common/command/usage_error.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/worker/data/files.h"
#include "tests/unit/worker/data/pictures.h"

namespace ballast {
namespace {

using testing::Bytes;
using testing::bytes;
using testing::contains;
using testing::error_of;

// Names that YAML would read as something else, or not at all, were they not quoted.
const std::vector<std::string> kAwkward = {"a: b", "#c", "it's \"d\"", "null", "~", "[e]", "\xC3\xA9t\xC3\xA9"};

// What `ballast check` says of a job of this model with what was printed.
void check_takes(const DescribeOptions& options, const std::string& model) {
  const testing::TemporaryFolder folder;
  const auto section = captured([&] { CHECK(describe_data(options) == 0); });
  INFO(section);
  const auto job = folder.write(
      "job.yaml", bytes("job: t\nmodel: {name: " + model + "}\ntraining: {epochs: 1, batch: 2, slots: 2}\n" + section));
  int code = -1;
  const auto said = captured([&] { code = check_job(job, {}); });
  CHECK(code == 0);
  CHECK(contains(said, "examples    "));
}

TEST_CASE("check takes what describe prints of images") {
  const testing::TemporaryFolder idx;
  idx.write("train-images-idx3-ubyte", testing::idx({2, 2, 3}, Bytes(12, 51)));
  idx.write("train-labels-idx1-ubyte", testing::idx({2}, {0, 1}));
  idx.write("t10k-images-idx3-ubyte", testing::idx({1, 2, 3}, Bytes(6, 0)));
  idx.write("t10k-labels-idx1-ubyte", testing::idx({1}, {2}));  // a class that only the test split has
  check_takes({.folder = idx.path(), .normalise = true}, "mlp");

  const testing::TemporaryFolder cifar;
  cifar.write("data_batch_1.bin", Bytes(2 * 3073, 3));
  cifar.write("test_batch.bin", Bytes(3073, 4));
  check_takes({.folder = cifar.path(), .normalise = true}, "mlp");

  const testing::TemporaryFolder images;
  for (const std::string split : {"train", "test"}) {
    for (const auto& name : kAwkward) {
      images.write(split + "/" + name + "/1.png", testing::png(testing::picture(3, 4, 5)));
    }
    images.write(split + "/#c/cut.png", bytes("\x89PNG"));
  }
  check_takes({.folder = images.path(), .normalise = true}, "mlp");
  std::filesystem::create_directories(images.path() / "train/none");
  CHECK(describe({.folder = images.path()}).warnings ==
        std::vector<std::string>{(images.path() / "train/none").string() + ": holds no example, and is no class"});
}

TEST_CASE(
    "a folder of images and archives of it are told alike, and the first image in the examples' order has the size") {
  const testing::TemporaryFolder folder;
  const std::vector<std::pair<std::string, Bytes>> files = {{"b/3.png", testing::png(testing::picture(3, 9, 9))},
                                                            {"b/2.png", testing::png(testing::picture(3, 6, 7, 1))},
                                                            {"a/1.png", bytes("cut")},
                                                            {"a/2.jpg", testing::jpeg(testing::picture(3, 8, 8, 2))}};
  for (const auto& [name, content] : files) {
    folder.write("train/" + name, content);
  }
  folder.write("train.tar", testing::tar(files));
  folder.write("train.tar.gz", testing::gzip(testing::tar(files)));
  const auto told = [&](const std::string& name) {
    auto described =
        describe({.folder = folder.path(), .kind = "images", .train = name, .test = name, .normalise = true});
    CHECK(described.corrupt.size() == 2);
    CHECK(contains(described.corrupt[0], "a/1.png, byte 0: the file is neither a PNG nor a JPEG"));
    return described.section.substr(described.section.find("classes:"));
  };
  const auto by_folder = told("train");
  CHECK(contains(by_folder, "height: 6\n  width: 7\n  # train: 2 a, 2 b; 1 corrupt\n"));
  CHECK(told("train.tar") == by_folder);
  CHECK(told("train.tar.gz") == by_folder);

  folder.write("train/a/2.jpg", bytes("cut, too"));
  CHECK(contains(
      error_of([&] { describe({.folder = folder.path(), .kind = "images", .train = "train", .test = "train"}); }),
      "train: no image of class 'a' can be decoded: "));
}

TEST_CASE("check takes what describe prints of texts and trees") {
  const testing::TemporaryFolder folder;
  for (const auto& name : kAwkward) {
    folder.write("train/" + name + "/1", bytes("one caf\xe9"));
  }
  folder.write("test/null/1", bytes("two"));
  DescribeOptions text{.folder = folder.path(), .kind = "text"};
  text.strip.quotes = true;
  check_takes(text, "text_cnn");
  folder.write("train.txt", bytes("(3 (2 It) (4 well))\n(0 no\n(1 so)\n"));
  folder.write("test.txt", bytes("(1 no)\n"));
  check_takes({.folder = folder.path(), .kind = "trees"}, "tree_lstm");
  check_takes({.folder = folder.path(), .kind = "trees", .tree_labels = "polarity"}, "tree_lstm");
}

TEST_CASE("check takes what describe prints of tables and arrays") {
  const testing::TemporaryFolder table;
  std::string rows = "\xEF\xBB\xBF\"a: b\",#c,colour,y,flag,\n";
  for (const auto& name : kAwkward) {
    rows += "1e300,2,\"" + std::string(name == kAwkward[2] ? "it's \"\"d\"\"" : name) + "\"," +
            (name == "null" ? "x" : "1e-7") + ",1,\n";
  }
  table.write("train.csv", bytes(rows + "NA,3,?,x,0,\n"));
  check_takes({.folder = table.path(), .normalise = true, .label = "y"}, "mlp");
  check_takes({.folder = table.path(), .flags = {"flag"}}, "mlp");
  check_takes({.folder = table.path(), .normalise = true, .targets = {"#c", "flag"}}, "mlp");

  const testing::TemporaryFolder arrays;
  const auto npy = [&](const std::string& name, const std::string& shape, const std::string& values) {
    auto header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }\n";
    arrays.write(
        name, bytes(std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values));
  };
  npy("x_train.npy", "3, 4", std::string(12, 'x'));
  npy("y_train.npy", "3,", std::string("\0\2\1", 3));
  check_takes({.folder = arrays.path()}, "mlp");
  check_takes({.folder = arrays.path(), .array_labels = "number"}, "mlp");
  npy("y_train.npy", "3, 2", std::string("\0\1\1\1\0\0", 6));
  check_takes({.folder = arrays.path()}, "mlp");
}

TEST_CASE("what no job can have is refused, and not printed") {
  const testing::TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", testing::idx({1, 5000, 1}, Bytes(5000, 51)));
  folder.write("train-labels-idx1-ubyte", testing::idx({1}, {1}));
  folder.write("t10k-images-idx3-ubyte", testing::idx({1, 5000, 1}, Bytes(5000, 51)));
  folder.write("t10k-labels-idx1-ubyte", testing::idx({1}, {1}));
  CHECK(contains(error_of([&] { describe({.folder = folder.path()}); }),
                 ": no job can have what lies there: data.height: '5000' is out of range"));
  const testing::TemporaryFolder table;
  std::string rows = "x,y\n";
  for (int i = 0; i < 15000; ++i) {
    rows += "1," + std::string(250, 'n') + std::to_string(i % 5000) + "\n";
  }
  table.write("train.csv", bytes(rows));
  CHECK(
      contains(error_of([&] { describe({.folder = table.path(), .label = "y"}); }), "more than a job file's 1048576"));
}

TEST_CASE("a table of which nothing is predicted is told with a warning") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y\n1,2\n"));
  const auto described = describe({.folder = folder.path()});
  REQUIRE(described.warnings.size() == 1);
  CHECK(contains(described.warnings[0], "nothing is to be predicted yet, and no job can have this section"));
}

std::string usage_error_of(const DescribeOptions& options) {
  try {
    describe(options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("an option that the kind does not have is refused by name") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y\n1,2\n"));
  const auto refused = [&](const std::string& name, DescribeOptions options) {
    CAPTURE(name);
    options.folder = folder.path();
    CHECK(contains(usage_error_of(options), name + ": a data set of kind csv has no such option; "));
  };
  refused("--train-labels", {.train_labels = "y"});
  refused("--test-labels", {.test_labels = "y"});
  refused("--channels", {.channels = 1});
  refused("--height", {.height = 1});
  refused("--width", {.width = 1});
  refused("--strip-headers", {.strip = {.headers = true}});
  refused("--strip-quotes", {.strip = {.quotes = true}});
  refused("--strip-signature", {.strip = {.signature = true}});
  refused("--tree-labels", {.tree_labels = "all"});
  refused("--labels", {.array_labels = "class"});
  folder.write("train.txt", bytes("(1 x)\n"));
  DescribeOptions trees{.folder = folder.path(), .kind = "trees"};
  const auto has_none = [&](const std::string& name, const DescribeOptions& options) {
    CHECK(contains(usage_error_of(options), name + ": a data set of kind trees has no such option; "));
  };
  trees.normalise = true;
  has_none("--normalise", trees);
  trees.normalise = false;
  trees.separator = "tab";
  has_none("--separator", trees);
  trees.separator = {};
  trees.no_header = true;
  has_none("--no-header", trees);
  trees.no_header = false;
  trees.label = "x";
  CHECK(usage_error_of(trees) ==
        "--label: a data set of kind trees has no such option; csv has it. Leave it out, or correct --as");
  trees.label = {};
  trees.flags = {"x"};
  has_none("--flag", trees);
  trees.flags = {};
  trees.targets = {"x"};
  has_none("--target", trees);
  trees.targets = {};
  trees.numbers = {"x"};
  has_none("--number", trees);
  trees.numbers = {};
  trees.categories = {"x"};
  has_none("--category", trees);
  trees.categories = {};
  trees.ignored = {"x"};
  has_none("--ignore", trees);
}

TEST_CASE("options that contradict each other are refused by name") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y,z\n1,2,3\n"));
  CHECK(contains(usage_error_of({.folder = folder.path(), .label = "x", .targets = {"y"}}), "--label and --target: "));
  CHECK(contains(usage_error_of({.folder = folder.path(), .flags = {"x"}, .targets = {"y"}}), "--flag and --target: "));
  CHECK(contains(usage_error_of({.folder = folder.path(), .targets = {"y", "y"}}),
                 "--target: the column 'y' is named twice; name it once"));
  CHECK(contains(usage_error_of({.folder = folder.path(), .label = "y", .ignored = {"y"}}),
                 "--ignore: the column 'y' is named twice, with --label before; name it once"));
  const testing::TemporaryFolder arrays;
  arrays.write("x_train.npy", bytes(""));
  arrays.write("y_train.npy", bytes(""));
  CHECK(contains(usage_error_of({.folder = arrays.path(), .test_labels = "y_train"}),
                 "--test-labels: there is no test split that they belong to"));
}

TEST_CASE("of files of several kinds none is chosen, and names that were given tell their kind") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y\n1,2\n2,3\n"));
  folder.write("train-images/a/1.png", testing::png(testing::picture(1, 2, 2)));
  folder.write("test-images/a/1.png", testing::png(testing::picture(1, 2, 2)));
  const auto error = error_of([&] { describe({.folder = folder.path()}); });
  CHECK(contains(error,
                 ": the files of several data sets are known by their names here, train-images (images) and "
                 "train.csv (csv) among them; say which one with --as"));
  CHECK(contains(describe({.folder = folder.path(), .kind = "csv", .label = "y"}).section, "name: csv"));
  std::filesystem::rename(folder.path() / "train-images", folder.path() / "these");
  const DescribeOptions named{.folder = folder.path(), .train = "these", .test = "test-images"};
  CHECK(contains(describe(named).section, "name: images"));
}

}  // namespace
}  // namespace ballast
