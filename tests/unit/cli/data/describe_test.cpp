#include "cli/data/describe.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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
    CHECK(described.section == "data:\n  name: idx\n  path: " + path +
                                   "\n  train: train-images-idx3-ubyte\n  test: t10k-images-idx3-ubyte\n  classes: "
                                   "[0, 1]\n  train_labels: train-labels-idx1-ubyte.gz\n  test_labels: "
                                   "t10k-labels-idx1-ubyte\n  height: 2\n  width: 3\n  # train: 1 0, 1 1\n"
                                   "  train_examples: 2\n  # test: 0 0, 1 1\n  test_examples: 1\n  mean: [0.200000]\n"
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
  CHECK(contains(described.section, "- {name: id, kind: ignored}  # more than 100 different texts, or long ones\n"));
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
  DescribeOptions options{.folder = folder.path(), .train = "t.tsv", .no_header = true};
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

Bytes npy(const std::string& type, const std::string& shape, const std::string& values) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
  return bytes(std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values);
}

TEST_CASE("arrays are told with their shape and what their labels are") {
  const testing::TemporaryFolder folder;
  folder.write("x_train.npy", npy("|u1", "3, 1, 2, 2", std::string(12, '\x33')));
  folder.write("y_train.npy", npy("|u1", "3,", std::string("\0\2\1", 3)));
  folder.write("x_test.npy", npy("|u1", "1, 1, 2, 2", std::string(4, '\0')));
  folder.write("y_test.npy", npy("|u1", "1,", std::string("\3", 1)));
  DescribeOptions options{.folder = folder.path()};
  const auto data = data_of(describe(options), "mlp");
  CHECK(data.name == "npy");
  CHECK(data.shape == std::vector<std::uint32_t>{1, 2, 2});
  CHECK(data.outputs == 4);
  CHECK(data.test_examples == 1);
  CHECK(read_examples(*open_dataset(data, ""), DataSplit::train, 0, 1).features == std::vector<float>(4, 0.2F));

  options.train_labels = options.test_labels = "bits";
  options.test = "x_train";
  folder.write("bits.npy", npy("|u1", "3, 2", std::string("\0\1\1\1\0\0", 6)));
  CHECK(data_of(describe(options), "mlp").target == "several");
  folder.write("bits.npy", npy("|i1", "3, 2", std::string("\0\1\1\1\0\xff", 6)));
  CHECK(data_of(describe(options), "mlp").target == "number");
  folder.write("bits.npy", npy("|i1", "2, 2", std::string("\0\1\1\1", 4)));
  CHECK(contains(error_of([&] { describe(options); }), "array x_train has 3 rows and bits 2; they must be as many"));
  options.normalise = true;
  CHECK(contains(error_of([&] { describe(options); }), "--normalise: arrays have data.scale alone"));
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
