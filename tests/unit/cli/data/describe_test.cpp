#include "cli/data/describe.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/data/class_order.h"
#include "cli/data/described_columns.h"
#include "cli/data/make_files.h"
#include "common/job/load.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/dataset.h"
#include "worker/data/examples.h"

namespace ballast {
namespace {

using testing::Bytes;
using testing::bytes;
using testing::contains;
using testing::error_of;
using testing::gzip;
using Words = std::vector<std::string>;

// The section, read as a job file's.
DataSpec data_of(const Description& described, const std::string& model) {
  INFO(described.section);
  return parse_job(
             "job: t\nmodel: {name: " + model + "}\ntraining: {epochs: 1, batch: 2, slots: 2}\n" + described.section,
             "job.yaml")
      .data;
}

TEST_CASE("a folder's path is told without dots, whatever was written") {
  const testing::TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", testing::idx({2, 2, 3}, Bytes(12, 51)));
  folder.write("train-labels-idx1-ubyte.gz", gzip(testing::idx({2}, {0, 1})));
  folder.write("t10k-images-idx3-ubyte", testing::idx({1, 2, 3}, Bytes(6, 0)));
  folder.write("t10k-labels-idx1-ubyte", testing::idx({1}, {1}));
  const auto path = folder.path().string();
  for (const auto& ending :
       std::vector<std::string>{"", "/", "/.", "/./", "/../" + folder.path().filename().string()}) {
    CAPTURE(ending);
    const auto described = describe({.folder = path + ending, .normalise = true});
    CHECK(described.corrupt.empty());
    CHECK(described.section ==
          "data:\n  name: idx\n  path: " + path +
              "\n  train: train-images-idx3-ubyte\n  test: t10k-images-idx3-ubyte\n  classes: "
              "[\"0\", \"1\"]\n  train_labels: train-labels-idx1-ubyte.gz\n  test_labels: "
              "t10k-labels-idx1-ubyte\n  height: 2\n  width: 3\n  # train: 1 0, 1 1\n"
              "  train_examples: 2\n  # test: 0 0, 1 1\n  test_examples: 1\n  mean: [0.200000003]\n"
              "  deviation: [0.000001]\n");
  }
}

TEST_CASE("texts are told with their classes, lengths and the command that makes the vocabulary") {
  const testing::TemporaryFolder folder;
  folder.write("a-train/cats/1", bytes("From: x\n\npurr purr purr"));
  folder.write("a-train/cats/2", bytes("From: x\n\nhiss"));
  folder.write("a-train/dogs/1", bytes("From: x\n\nwoof purr"));
  folder.write("a-test/dogs/1", bytes("From: x\n\nwoof"));
  DescribeOptions options{.folder = folder.path(), .kind = "text"};
  options.strip.headers = true;
  const auto described = describe(options);
  const auto path = folder.path().string();
  CHECK(contains(described.section,
                 "# tokens of a message of the train split: median 2, 95 % have at most 2, the longest 3"));
  CHECK(contains(described.section, "# 3 different words in the train split"));
  CHECK(contains(described.section,
                 "# ballast data vocabulary " + path + " --train a-train --strip-headers -o " + path + "/words.txt\n"));
  CHECK(contains(described.section, "# train: 2 cats, 1 dogs\n"));
  const auto data = data_of(described, "text_cnn");
  CHECK(data.classes == Words{"cats", "dogs"});
  CHECK(data.strip.headers);
  CHECK(data.vocabulary == 5);
  captured(
      [&] { make_vocabulary({.path = path, .train = "a-train", .strip = data.strip, .output = path + "/words.txt"}); });
  const auto dataset = open_dataset(data, "");
  CHECK(dataset->size(DataSplit::train) == 3);
  CHECK(dataset->size(DataSplit::test) == 1);

  folder.write("a-test/mice/1", bytes("\n\npip"));
  CHECK(contains(error_of([&] { describe(options); }),
                 "a-test/mice is a folder of messages, but the train split has no"));
}

TEST_CASE("trees are told with their labels, nodes and corrupt lines") {
  const testing::TemporaryFolder folder;
  folder.write("train.txt.gz", gzip(bytes("(3 (2 It) (4 (1 works) (2 well)))\n(3 it\n(2 so)\n(0 it)\n")));
  folder.write("test.txt", bytes("(1 no)\n"));
  DescribeOptions options{.folder = folder.path(), .kind = "trees"};
  const auto path = folder.path().string();
  captured([&] {
    make_vocabulary({.path = path, .train = "train.txt.gz", .kind = "trees", .output = path + "/words.txt"});
  });
  const auto all = describe(options);
  REQUIRE(all.corrupt.size() == 1);
  CHECK(contains(all.corrupt[0], "train.txt.gz, line 2, column 6: "));
  CHECK(contains(all.section, "--as trees -o " + path + "/words.txt"));
  CHECK(contains(all.section, "# train: 1 0, 0 1, 1 2, 1 3, 0 4; 1 corrupt\n"));
  const auto data = data_of(all, "tree_lstm");
  CHECK(data.classes == Words{"0", "1", "2", "3", "4"});
  CHECK(data.steps == 5);
  CHECK(data.corrupt == "skip");
  CHECK(open_dataset(data, "")->size(DataSplit::train) == 3);

  options.tree_labels = "polarity";
  const auto two = data_of(describe(options), "tree_lstm");
  CHECK(two.classes == Words{"negative", "positive"});
  CHECK(two.train_examples == 2);
  CHECK(open_dataset(two, "")->size(DataSplit::test) == 1);
}

TEST_CASE("a table's columns are told as numbers, categories and what is to be predicted") {
  const testing::TemporaryFolder folder;
  std::string rows = "id,age,colour,sold\n";
  for (int i = 0; i < 102; ++i) {
    rows += "n" + std::to_string(i) + "," + std::to_string(20 + 10 * (i % 2)) + (i % 3 == 0 ? ",NA," : ",red,") +
            (i % 2 == 0 ? "yes" : "no") + "\n";
  }
  folder.write("my-train.csv", bytes(rows + "x,1\n"));
  folder.write("my-test.csv", bytes("id,age,colour,sold\na,7,blue,no\nb,8,red,\n"));
  const DescribeOptions options{.folder = folder.path(), .normalise = true, .label = "sold"};
  const auto described = describe(options);
  REQUIRE(described.corrupt.size() == 2);
  CHECK(contains(described.corrupt[0], "my-train.csv, line 104, column 2: the row has 2 fields where 4 are needed"));
  CHECK(contains(described.corrupt[1], "my-test.csv, line 3, column 4: sold: '' is no class"));
  CHECK(contains(described.section, "- {name: id, kind: ignored}  # more than 100 different texts\n"));
  CHECK(contains(described.section, "- {name: age, kind: number, mean: 25, deviation: 5}\n"));
  const auto data = data_of(described, "mlp");
  CHECK(data.missing == Words{"NA"});
  CHECK(data.classes == Words{"no", "yes"});
  CHECK(data.columns[2].values == Words{"blue", "red"});
  CHECK(data.columns[3].kind == CsvColumn::Kind::label);
  CHECK(data.corrupt == "skip");
  const auto dataset = open_dataset(data, "");
  CHECK(dataset->size(DataSplit::train) == 102);
  CHECK(read_examples(*dataset, DataSplit::train, 0, 1).features == std::vector<float>{-1, 0, 0});
  CHECK(read_examples(*dataset, DataSplit::test, 0, 1).features == std::vector<float>{-3.6F, 1, 0});
}

TEST_CASE("a table without names has columns by number, and its target is not guessed") {
  const testing::TemporaryFolder folder;
  folder.write("t.tsv", bytes("1,5\t0\tx\n2,5\t1\ty\n"));
  DescribeOptions options{.folder = folder.path(), .train = "t.tsv", .no_header = true, .categories = {"column1"}};
  const auto none = describe(options);
  CHECK(contains(none.section, "separator: tab\n  header: false\n  # nothing is to be predicted yet"));
  CHECK(contains(none.section, "- {name: column1, kind: category, values: [\"1,5\", \"2,5\"]}\n"));
  options.targets = {"column2"};
  const auto data = data_of(describe(options), "mlp");
  CHECK(data.columns[1].kind == CsvColumn::Kind::target);
  CHECK(open_dataset(data, "")->shape().labels == Labels::numbers);
  options.targets = {"price"};
  CHECK(
      contains(error_of([&] { describe(options); }), "there is no column 'price'; they are column1, column2, column3"));
  options.no_header = false;
  options.targets = {};
  options.categories = {};
  folder.write("t.tsv", bytes("1\t1\n2\t3\n"));
  CHECK(contains(error_of([&] { describe(options); }), "two columns are named '1'"));
}

TEST_CASE("mean and deviation do not lose digits to a large mean") {
  Moments moments;
  for (int i = 0; i < 1000; ++i) {
    moments.add(1e9 + (i % 2));
  }
  CHECK(moments.mean() == doctest::Approx(1e9 + 0.5).epsilon(1e-12));
  CHECK(moments.deviation() == doctest::Approx(0.5).epsilon(1e-6));
  Moments constant;
  constant.add(3);
  constant.add(3);
  CHECK(constant.deviation() == 1);
}

TEST_CASE("classes that are numbers are told in the order of the numbers, and workers take them so") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y\n1,10\n2,0\n3,2\n4,1\n"));
  const auto table = data_of(describe({.folder = folder.path(), .label = "y"}), "mlp");
  CHECK(table.classes == Words{"0", "1", "2", "10"});
  CHECK(read_examples(*open_dataset(table, ""), DataSplit::train, 0, 4).labels ==
        std::vector<std::int32_t>{3, 0, 2, 1});

  const testing::TemporaryFolder texts;
  for (const std::string name : {"0", "1", "2", "10"}) {
    texts.write("train/" + name + "/m", bytes("the words of " + name));
  }
  const auto numbered = data_of(describe({.folder = texts.path(), .kind = "text"}), "text_cnn");
  CHECK(numbered.classes == Words{"0", "1", "2", "10"});
  texts.write("train/b/m", bytes("of no number"));
  CHECK(data_of(describe({.folder = texts.path(), .kind = "text"}), "text_cnn").classes ==
        Words{"0", "1", "10", "2", "b"});
}

TEST_CASE("numbers order names only where all are numbers, and equal ones stand by their bytes") {
  CHECK(in_class_order({"10", "9", "-1", "1e1", "2.5"}) == Words{"-1", "2.5", "9", "10", "1e1"});
  CHECK(in_class_order({"10", "9", "x"}) == Words{"10", "9", "x"});
  CHECK(in_class_order({}).empty());
}

TEST_CASE("two texts of one number are two classes, of which describe warns") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y\n1,1\n2,1.0\n3,2\n"));
  const auto described = describe({.folder = folder.path(), .label = "y"});
  REQUIRE(described.warnings.size() == 1);
  CHECK(contains(described.warnings[0], "the classes '1' and '1.0' are one number and two classes"));
}

TEST_CASE("a byte-order mark is no part of the first column's name") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("\xEF\xBB\xBFsize,sold\n1,no\n3,yes\n"));
  const auto data = data_of(describe({.folder = folder.path(), .label = "sold"}), "mlp");
  CHECK(data.columns[0].name == "size");
  CHECK(read_examples(*open_dataset(data, ""), DataSplit::train, 0, 2).features == std::vector<float>{1, 3});
}

TEST_CASE("means and deviations read back as the numbers that were computed") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y\n1000000000000,a\n1000000000001,b\n0.1,c\n0.2,c\n"));
  Moments moments;
  for (const double value : {1000000000000.0, 1000000000001.0, 0.1, 0.2}) {
    moments.add(value);
  }
  const auto column = data_of(describe({.folder = folder.path(), .normalise = true, .label = "y"}), "mlp").columns[0];
  CHECK(column.mean == moments.mean());
  CHECK(column.deviation == moments.deviation());

  const testing::TemporaryFolder images;
  Bytes pixels;
  for (int i = 0; i < 12; ++i) {
    pixels.push_back(static_cast<std::uint8_t>(i * i));
  }
  images.write("train-images-idx3-ubyte", testing::idx({2, 2, 3}, pixels));
  images.write("train-labels-idx1-ubyte", testing::idx({2}, {0, 1}));
  images.write("t10k-images-idx3-ubyte", testing::idx({1, 2, 3}, Bytes(6, 0)));
  images.write("t10k-labels-idx1-ubyte", testing::idx({1}, {1}));
  const auto data = data_of(describe({.folder = images.path(), .normalise = true}), "mlp");
  double sum = 0;
  double squares = 0;
  for (const auto pixel : pixels) {
    sum += pixel;
    squares += double{static_cast<double>(pixel)} * pixel;
  }
  const double mean = sum / 12;
  CHECK(static_cast<float>(data.mean[0]) == static_cast<float>(mean / 255));
  CHECK(static_cast<float>(data.deviation[0]) == static_cast<float>(std::sqrt(squares / 12 - mean * mean) / 255));
}

TEST_CASE("messages that are not UTF-8 are counted") {
  const testing::TemporaryFolder folder;
  folder.write("train/a/1", bytes("caf\xe9 cr\xe8me"));
  folder.write("train/a/2", bytes("plain"));
  folder.write("train/b/1", bytes("na\xc3\xafve"));
  const auto described = describe({.folder = folder.path(), .kind = "text"});
  CHECK(contains(described.section, "# train: 1 of 3 messages are not UTF-8, and read as ISO-8859-1\n"));
  data_of(described, "text_cnn");
}

TEST_CASE("a name that no job file can hold is refused with its fault, and never printed as it stands") {
  for (const std::string name : {"a\tb", "a\nmodel: {name: mlp}", "caf\xe9"}) {
    CAPTURE(name);
    const testing::TemporaryFolder folder;
    folder.write("train/" + name + "/1", bytes("x"));
    folder.write("train/b/1", bytes("y"));
    const auto error = error_of([&] { describe({.folder = folder.path(), .kind = "text"}); });
    CHECK(contains(error, folder.path().string() + ": data.classes: '"));
    CHECK(contains(error, ", which a job file cannot hold; rename it"));
    CHECK_FALSE(contains(error, name));
  }
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("n,colour,y\n1,caf\xe9,no\n2,x\xc2\x85,yes\n"));
  const auto described = describe({.folder = folder.path(), .label = "y"});
  CHECK(contains(described.section,
                 "- {name: colour, kind: ignored}  # 'caf ' has invalid UTF-8 0xe9 at byte 3, which a job file"));
  data_of(described, "mlp");
  CHECK(contains(error_of([&] { describe({.folder = folder.path(), .label = "colour"}); }),
                 "--label colour: the column has a value that a job file cannot hold: 'caf ' has invalid UTF-8"));
  folder.write("train.csv", bytes("caf\xe9,y\n1,no\n2,yes\n"));
  CHECK(contains(error_of([&] { describe({.folder = folder.path(), .label = "y"}); }),
                 "line 1: the column's name 'caf ' has invalid UTF-8 0xe9 at byte 3"));
}

TEST_CASE("a folder whose messages are all corrupt is a class, as workers take it, and an empty one is told") {
  const testing::TemporaryFolder folder;
  folder.write("train/a/1", bytes("x"));
  folder.write("train/b/1", bytes("y"));
  folder.write("train/c/1.gz", bytes("\x1f\x8b, cut short"));
  std::filesystem::create_directories(folder.path() / "train/none");
  const auto described = describe({.folder = folder.path(), .kind = "text"});
  CHECK(described.corrupt.size() == 1);
  CHECK(described.warnings == Words{(folder.path() / "train/none").string() + ": holds no example, and is no class"});
  const auto data = data_of(described, "text_cnn");
  CHECK(data.classes == Words{"a", "b", "c"});
  captured([&] {
    make_vocabulary({.path = data.path, .train = data.train, .output = data.path + "/" + data.vocabulary_file});
  });
  CHECK(open_dataset(data, "")->size(DataSplit::train) == 2);
}

TEST_CASE("what holds nothing to learn from is refused with the reason") {
  const testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& rows, const DescribeOptions& options, const std::string& why) {
    CAPTURE(rows);
    folder.write("train.csv", bytes(rows));
    auto with_folder = options;
    with_folder.folder = folder.path();
    CHECK(contains(error_of([&] { describe(with_folder); }), why));
  };
  refused("", {.label = "y"}, "train.csv: holds no row to learn from; the file is empty");
  refused("x,y\n", {.label = "y"}, "train.csv: holds no row to learn from, only a line of names");
  refused("x,y\n1\n", {.label = "y"}, "; all 1 are corrupt, the first: ");
  refused("x,y\n1,a\n2,a\n", {.label = "y"}, "--label y: the column has one value alone, 'a'");
  refused("y\na\nb\n", {.label = "y"}, "train.csv: no column is left to learn from");
  refused("x,y\n1,a\n2,b\n", {.label = "z"}, "there is no column 'z'; they are x, y");
  folder.write("test.csv", bytes("x,y\n"));
  refused("x,y\n1,a\n2,b\n", {.label = "y"}, "test.csv: holds no row to learn from");

  const testing::TemporaryFolder texts;
  texts.write("train/a/1", bytes("x"));
  const DescribeOptions text{.folder = texts.path(), .kind = "text"};
  CHECK(contains(error_of([&] { describe(text); }), "train has one folder with messages alone, 'a'"));
  texts.write("train/b/1", bytes(""));
  texts.write("train/a/1", bytes(" \n"));
  CHECK(contains(error_of([&] { describe(text); }), "train holds no word"));
  texts.write("train.txt", bytes("\n"));
  const DescribeOptions trees{.folder = texts.path(), .kind = "trees"};
  CHECK(contains(error_of([&] { describe(trees); }), "train.txt: holds no tree"));
  texts.write("train.txt", bytes("(0 a)\n"));
  CHECK(contains(error_of([&] { describe(trees); }), "all nodes have label 0; at least two classes are needed"));
}

TEST_CASE("a column of many values is not held as a whole") {
  ColumnFacts facts;
  facts.hold(kMostClasses);
  for (int i = 0; i < 30000; ++i) {
    facts.add("text " + std::to_string(i), true);
  }
  CHECK(facts.is_crowded());
  CHECK(facts.values().size() == kMostClasses + 1);
  ColumnFacts features;
  for (int i = 0; i < 30000; ++i) {
    features.add(std::to_string(i), true);
  }
  CHECK(features.is_number());
  CHECK(features.values().size() == kMostValues + 1);
  ColumnFacts texts;
  texts.add(std::string(1000, 'x'), true);
  texts.add("short", true);
  CHECK_FALSE(texts.is_category());
  CHECK(texts.values().empty());
  CHECK(contains(texts.unfit(), "is longer than 256 bytes"));
}

TEST_CASE("files that are not known are refused with the options that would say what they are") {
  const testing::TemporaryFolder folder;
  folder.write("notes", bytes("x"));
  const auto error = error_of([&] { describe({.folder = folder.path()}); });
  CHECK(contains(error, folder.path().string() + ": no files of a data set are known by their names here"));
  CHECK(contains(error_of([&] { describe({.folder = folder.path(), .kind = "trees"}); }),
                 "the files of a data set of kind trees are not known by their names here; name them with --train"));
  CHECK(contains(error_of([&] { describe({.folder = folder.path() / "none"}); }), "cannot be looked into"));
}

}  // namespace
}  // namespace ballast
