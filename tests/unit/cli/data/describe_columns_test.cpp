// `ballast data describe` of tables whose columns are nearly something, whose splits differ, or whose label is a
// number.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/data/describe.h"
#include "common/job/load.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/dataset.h"
#include "worker/data/examples.h"

namespace ballast {
namespace {

using testing::bytes;
using testing::contains;
using testing::error_of;
using Words = std::vector<std::string>;

DataSpec table_data(const Description& described) {
  INFO(described.section);
  return parse_job("job: t\nmodel: {name: mlp}\ntraining: {epochs: 1, batch: 2, slots: 2}\n" + described.section, "job")
      .data;
}

// Two columns: x, of which row i has `value(i)`, and y, of two classes.
template <class Value>
std::string table_of(int rows, const Value& value) {
  std::string text = "x,y\n";
  for (int i = 0; i < rows; ++i) {
    text += value(i) + (i % 2 == 0 ? ",a\n" : ",b\n");
  }
  return text;
}

std::string fraction_text(int i) { return std::to_string(i) + ".5"; }

TEST_CASE("a column with one value that is no number is refused with its place, and an option says what it is") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes(table_of(200, [](int i) { return i == 55 ? "unknown" : fraction_text(i); })));
  DescribeOptions options{.folder = folder.path(), .label = "y"};
  const auto error = error_of([&] { describe(options); });
  CHECK(contains(error, (folder.path() / "train.csv").string() +
                            ", line 57, column 1: x: 'unknown' is no number; correct it, or leave the field empty"));
  CHECK(contains(error, "(1 of the column's 200 values are no numbers as they stand)"));
  CHECK(contains(error, "--number x leaves out the rows"));
  CHECK(contains(error, "--category x takes its texts"));
  CHECK(contains(error, "--ignore x passes it over"));

  options.numbers = {"x"};
  const auto as_number = describe(options);
  CHECK(as_number.corrupt ==
        Words{(folder.path() / "train.csv").string() + ", line 57, column 1: x: 'unknown' is no number"});
  const auto data = table_data(as_number);
  CHECK(data.columns[0].kind == CsvColumn::Kind::number);
  CHECK(data.corrupt == "skip");
  CHECK(data.train_examples == 199);
  CHECK(open_dataset(data, "")->size(DataSplit::train) == 199);

  options.numbers = {};
  options.categories = {"x"};
  CHECK(table_data(describe(options)).columns[0].values.size() == 200);
  options.categories = {};
  options.ignored = {"x"};
  CHECK(contains(error_of([&] { describe(options); }), "no column is left to learn from"));
}

TEST_CASE("nine numbers in ten are nearly all, and fewer are none that are meant") {
  const testing::TemporaryFolder folder;
  const auto described = [&](int numbers) {
    folder.write("train.csv",
                 bytes(table_of(10, [&](int i) { return i < numbers ? fraction_text(i) : "t" + fraction_text(i); })));
    return describe({.folder = folder.path(), .label = "y"});
  };
  CHECK(contains(error_of([&] { described(9); }), "line 11, column 1: x: 't9.5' is no number"));
  const auto category = described(8);
  CHECK(contains(category.section, "- {name: x, kind: category, values: ["));
  REQUIRE(category.warnings.size() == 1);
  CHECK(contains(category.warnings[0],
                 "the column 'x' becomes a category: 8 of 10 values are numbers, the first that is none is 't8.5' ("));
  CHECK(contains(category.warnings[0], "line 10, column 1: x: 't8.5'); if it is of numbers, say --number x"));
  CHECK(described(4).warnings.empty());
  const auto asked = describe({.folder = folder.path(), .label = "y", .categories = {"x"}});
  CHECK(asked.warnings.empty());
}

TEST_CASE("a column that is ignored, though half of it is numbers, is told with the first value that is none") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("z," + table_of(300, [](int i) {
                                    return std::to_string(i) + "," +
                                           (i % 3 == 2 ? "t" + fraction_text(i) : fraction_text(i));
                                  })));
  const auto described = describe({.folder = folder.path(), .label = "y"});
  CHECK(contains(described.section,
                 "- {name: x, kind: ignored}  # more than 100 different texts; 200 of 300 values are numbers, the "
                 "first that is none is 't2.5'\n"));
  REQUIRE(described.warnings.size() == 1);
  CHECK(contains(described.warnings[0], "the column 'x' is ignored: 200 of 300 values are numbers"));
  CHECK(
      contains(described.warnings[0], "train.csv, line 4, column 2: x: 't2.5'); if it is of numbers, say --number x"));
}

TEST_CASE("numbers that are written otherwise are told as what they are") {
  const testing::TemporaryFolder folder;
  const auto error = [&](const std::string& field) {
    folder.write("train.csv", bytes("x;y\n" + field + ";a\n" + field + ";b\n"));
    return error_of([&] { describe({.folder = folder.path(), .label = "y"}); });
  };
  CHECK(
      contains(error("3,25"), "line 2, column 1: x: '3,25' has a decimal comma; write it with a decimal point (2 of"));
  CHECK(contains(error("1.234.567,5"), "has a decimal comma"));
  CHECK(contains(error("1,234,567.5"), "has separators between thousands; write it without them"));
  CHECK(contains(error("12 500"), "has separators between thousands"));
  CHECK(contains(error("1,234"), "has a comma, for decimals or between thousands"));
  CHECK(contains(error(" 7"), "has blanks around it; take them off"));
  CHECK(contains(error("+7"), "begins with a plus sign; take it off"));
  CHECK(error("7").empty());
  CHECK(error("a,b").empty());
  folder.write("train.csv", bytes("x;y;z\n1;2,5;a\n2;3,5;b\n"));
  CHECK(contains(error_of([&] { describe({.folder = folder.path(), .targets = {"y"}}); }),
                 "line 2, column 2: y: '2,5' has a decimal comma"));
}

TEST_CASE("a test split may have its columns in another order and others beside them, as the job takes it") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("x,y,z\n1,a,10\n2,b,20\n"));
  folder.write("test.csv", bytes("more,z,y,x\n?,30,b,3\n?,40,a,q,4\n"));
  const auto described = describe({.folder = folder.path(), .label = "y"});
  CHECK(contains(described.corrupt.at(0), "test.csv, line 3, column 4: the row has 5 fields where 4 are needed"));
  const auto data = table_data(described);
  const auto dataset = open_dataset(data, "");
  CHECK(read_examples(*dataset, DataSplit::test, 0, 1).features == std::vector<float>{3, 30});
  CHECK(dataset->label(DataSplit::test, 0) == 1);

  folder.write("test.csv", bytes("z,x\n30,3\n"));
  CHECK(contains(error_of([&] { describe({.folder = folder.path(), .label = "y"}); }),
                 "test.csv, line 1: names no column 'y', which the train split has; add it"));
}

TEST_CASE("a label of numbers that are no whole ones, or of nearly as many values as rows, is questioned") {
  const testing::TemporaryFolder folder;
  const auto described = [&](int rows, const auto& value) {
    folder.write("train.csv", bytes(table_of(rows, value)));
    return describe({.folder = folder.path(), .label = "x"});
  };
  const auto refused = [&](int rows, const auto& value) { return error_of([&] { described(rows, value); }); };
  CHECK(contains(refused(300, fraction_text),
                 "--label x: the column has 300 different values in 300 rows, some of them, such as 0.5, no whole "
                 "numbers, which are no classes; did you mean --target x, a number to be predicted?"));
  CHECK(contains(refused(1000, [](int i) { return fraction_text(i % 150); }), "did you mean --target x"));
  CHECK(contains(refused(300, [](int i) { return std::to_string(i); }),
                 "has 300 different values in 300 rows, which are no classes; did you mean --target x"));
  CHECK(contains(refused(300, [](int i) { return "id" + std::to_string(i); }),
                 "which are no classes; is it the name of each row? Then name another column"));
  CHECK(contains(refused(30000, fraction_text), "has more than 10000 different values in 30000 rows"));

  const auto stars = described(50, [](int i) { return fraction_text(i % 5); });
  REQUIRE(stars.warnings.size() == 1);
  CHECK(contains(stars.warnings[0],
                 "has 5 different values in 50 rows, some of them, such as 0.5, no whole numbers, "
                 "each of which becomes a class; did you mean --target x"));
  CHECK(described(300, [](int i) { return std::to_string(i % 120); }).warnings.empty());
  CHECK(described(6, [](int i) { return std::to_string(i); }).warnings.empty());
}

TEST_CASE("columns that options name are what these say, and are refused if they cannot be") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("month,note,empty,y\n1,caf\xe9,,a\n2,t,,b\n12,t,,a\n"));
  const auto described = [&](const DescribeOptions& options) {
    auto all = options;
    all.folder = folder.path();
    all.label = "y";
    return describe(all);
  };
  CHECK(contains(described({.categories = {"month"}}).section,
                 "- {name: month, kind: category, values: [\"1\", \"2\", \"12\"]}\n"));
  CHECK(contains(described({.ignored = {"note"}}).section, "- {name: note, kind: ignored}\n"));
  CHECK(contains(error_of([&] { described({.categories = {"note"}}); }),
                 "--category note: the column has a value that a job file cannot hold"));
  CHECK(contains(error_of([&] { described({.categories = {"empty"}}); }),
                 "--category empty: the column has no value; say --ignore empty"));
  CHECK(contains(error_of([&] { described({.ignored = {"none"}}); }), "there is no column 'none'"));
  const auto none = error_of([&] { described({.numbers = {"y"}, .ignored = {"note"}}); });
  CHECK(contains(none, "--number: the column 'y' is named twice, with --label before"));
  folder.write("train.csv", bytes("month,note,empty,y\n1,t,,a\n2,t,,b\n"));
  const auto all = error_of([&] { described({.numbers = {"note"}}); });
  CHECK(contains(all, "; all 2 are corrupt, the first: "));
  CHECK_FALSE(contains(all, "--no-header"));
}

TEST_CASE("names and numbers of the section are what every reader of YAML takes them for") {
  const testing::TemporaryFolder folder;
  folder.write("train.csv", bytes("on,x,y\nyes,1e22,no\n1:30,1e22,1e5\n"));
  const auto described = describe({.folder = folder.path(), .normalise = true, .label = "y"});
  CHECK(contains(described.section, "classes: [\"1e5\", \"no\"]\n"));
  CHECK(contains(described.section, "- {name: \"on\", kind: category, values: [\"1:30\", \"yes\"]}\n"));
  CHECK(contains(described.section, "mean: 1.0e+22, deviation: 1}\n"));
  CHECK(table_data(described).columns[1].mean == 1e22);
}

}  // namespace
}  // namespace ballast
