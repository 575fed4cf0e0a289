// Tables and arrays: from files to examples.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "worker/data/arrays/npy.h"
#include "worker/data/arrays/npy_rows.h"
#include "worker/data/arrays/zip.h"
#include "worker/data/dataset.h"
#include "worker/data/examples.h"
#include "worker/data/tables/csv_rows.h"
#include "worker/data/tables/written_numbers.h"

namespace ballast {
namespace {

using namespace testing;
using Fields = std::vector<std::string>;
using Floats = std::vector<float>;

TEST_CASE("rows are parted as RFC 4180 says") {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", bytes("a,\"b \"\"x\"\", y\",\r\n\r\n\"two\nlines\",2,3\n\"\",,"));
  CsvRows rows(path, ',');
  CHECK(rows.next() == Fields{"a", "b \"x\", y", ""});
  CHECK(rows.next() == Fields{"two\nlines", "2", "3"});
  CHECK(contains(rows.where(), "t.csv, line 3"));
  CHECK(rows.next() == Fields{"", "", ""});
  CHECK(contains(rows.where(), "line 5"));
  CHECK_FALSE(rows.next());
}

TEST_CASE("a row whose quotes are wrong is refused, and the next one read") {
  const TemporaryFolder folder;
  CsvRows rows(folder.write("t.csv", bytes("a,b\"c\n\"a\"b,c\nd,e\n\"open,\n1")), ',');
  for (int row = 0; row < 2; ++row) {
    try {
      rows.next();
      CHECK_MESSAGE(false, "it was taken");
    } catch (const BadRow& bad) {
      CHECK(bad.column == (row == 0 ? 2U : 1U));
    }
  }
  CHECK(rows.next() == Fields{"d", "e"});
  CHECK(contains(error_of([&] { rows.next(); }), "line 4, column 1: a quote is not closed"));
}

TEST_CASE("a byte-order mark at the beginning of a table belongs to no field") {
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  CsvRows rows(folder.write("t.csv", bytes(mark + "\"a\",b\n" + mark + "c,d\n")), ',');
  CHECK(rows.next() == Fields{"a", "b"});
  CHECK(rows.next() == Fields{mark + "c", "d"});  // only the file's first bytes are one
  CsvRows packed(folder.write("t.csv.gz", gzip(bytes(mark + "a\n"))), ',');
  CHECK(packed.next() == Fields{"a"});
  for (const std::string& text : {mark, std::string("\xEF\xBB"), std::string("\xEF")}) {
    CsvRows alone(folder.write("t.csv", bytes(text)), ',');
    CHECK(alone.next() == (text == mark ? std::nullopt : std::optional(Fields{text})));
  }
}

DataSpec csv_spec(const std::string& path) {
  using enum CsvColumn::Kind;
  DataSpec spec;
  spec.name = "csv";
  spec.path = path;
  spec.train = "train.csv";
  spec.classes = {"no", "yes"};
  spec.missing = {"", "NA"};
  spec.columns = {{"age", number, 40, 10}, {"colour", category, 0, 1, {"red", "blue"}}, {"sold", label}};
  spec.train_examples = 3;
  return spec;
}

TEST_CASE("columns are found by name and become features and a class") {
  const TemporaryFolder folder;
  folder.write("train.csv", bytes("id,sold,colour,age\n1,yes,blue,50\n2,no,NA,\n3,no,red,35.5\n"));
  const auto dataset = open_dataset(csv_spec(folder.path()), "");
  CHECK(dataset->shape().features() == 3);
  const auto train = read_examples(*dataset, DataSplit::train, 0, 3);
  CHECK(train.features == Floats{1, 0, 1, 0, 0, 0, -0.45F, 1, 0});
  CHECK(train.labels == std::vector<std::int32_t>{1, 0, 0});
  CHECK(dataset->label(DataSplit::train, 0) == 1);
}

TEST_CASE("a column is found whether the file or the job has a byte-order mark before its name") {
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  auto spec = csv_spec(folder.path());
  spec.train_examples = 1;
  for (const std::string& in_file : {std::string(), mark}) {
    for (const std::string& in_job : {std::string(), mark}) {
      folder.write("train.csv", bytes(in_file + "age,colour,sold\n50,red,no\n"));
      spec.columns[0].name = in_job + "age";
      CHECK(read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 1).features == Floats{1, 1, 0});
    }
  }
}

TEST_CASE("numbers and several classes are targets, and without a header columns stand in their order") {
  using enum CsvColumn::Kind;
  const TemporaryFolder folder;
  folder.write("train.csv", bytes("1;5;x;0\n2;7;y;1\n"));
  auto spec = csv_spec(folder.path());
  spec.separator = "semicolon";
  spec.header = false;
  spec.classes.clear();
  spec.train_examples = 2;
  spec.columns = {{"a", number}, {"b", target, 5, 2}, {"c", ignored}, {"d", number}};
  const auto numbers = read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2);
  CHECK(numbers.features == Floats{1, 0, 2, 1});
  CHECK(numbers.targets == Floats{0, 1});
  CHECK(numbers.labels.empty());
  spec.columns = {{"a", number}, {"b", number}, {"c", ignored}, {"d", flag}};
  CHECK(read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2).targets == Floats{0, 1});
}

TEST_CASE("a row that does not fit ends the reading with line, column and value, or is left out") {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"old,blue,yes", "line 3, column 1: age: 'old' is no number"},
      {"1e999,blue,yes", "line 3, column 1: age: '1e999' is no number"},
      {"\"1,5\",blue,yes", "line 3, column 1: age: '1,5' has a decimal comma; write it with a decimal point"},
      {"1,green,yes", "line 3, column 2: colour: 'green' is none of the column's values"},
      {"1,red,maybe", "line 3, column 3: sold: 'maybe' is none of data.classes"},
      {"1,red,NA", "line 3, column 3: sold: holds 'NA', which says that the value is missing"},
      {"1,red", "the row has 2 fields where 3 are needed"},
      {"1,re\"d,yes", "line 3, column 2: a quote stands within a field"}};
  auto spec = csv_spec(folder.path());
  for (const auto& [row, why] : bad) {
    CAPTURE(row);
    folder.write("train.csv", bytes("age,colour,sold\n40,red,no\n" + row + "\n30,blue,yes\n"));
    spec.train_examples = 2;
    spec.corrupt = "fatal";
    CHECK(contains(error_of([&] { open_dataset(spec, ""); }), why));
    spec.corrupt = "skip";
    const auto kept = open_dataset(spec, "");
    CHECK(read_examples(*kept, DataSplit::train, 0, 2).labels == std::vector<std::int32_t>{0, 1});
    CHECK(kept->corrupt() == 1);
    spec.train_examples = 3;
    CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "holds 2 good examples"));
  }
  folder.write("train.csv", bytes("age,sold\n1,no\n"));
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "names no column 'colour'"));
  folder.write("train.csv", bytes("age,co\"lour,sold\n1,red,no\n"));
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "train.csv, line 1: the line of names cannot be read: a quote stands within a field"));
}

TEST_CASE("all corrupt rows of a table are told at once, up to ten") {
  const TemporaryFolder folder;
  auto spec = csv_spec(folder.path());
  folder.write("train.csv", bytes("age,colour,sold\nold,red,no\n40,red,no\n30,green,yes\n"));
  const auto both = error_of([&] { open_dataset(spec, ""); });
  CHECK(contains(both, "line 2, column 1: age: 'old' is no number"));
  CHECK(contains(both, "line 4, column 2: colour: 'green' is none"));
  CHECK(contains(both, "; repair these 2, take them away, or set data.corrupt: skip"));
  std::string rows = "age,colour,sold\n";
  for (int row = 0; row < 20; ++row) {
    rows += "old,red,no\n";
  }
  folder.write("train.csv", bytes(rows));
  const auto many = error_of([&] { open_dataset(spec, ""); });
  CHECK(contains(many, "line 11, column 1"));
  CHECK_FALSE(contains(many, "line 12, column 1"));
  CHECK(contains(many, "; repair these 10 and what else is corrupt behind them, take them away"));
}

// The bytes of an .npy file.
template <typename Value>
std::string npy(const std::string& type, const std::string& shape, const std::vector<Value>& values,
                const std::string& order = "False") {
  auto header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 10) / 64 * 64 + 64 - 10 - 1, ' ');
  header += "\n";
  std::string file = "\x93NUMPY";
  file += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  std::string content(values.size() * sizeof(Value), '\0');
  if (!values.empty()) {
    std::memcpy(content.data(), values.data(), content.size());
  }
  return file + header + content;
}

DataSpec npy_spec(const std::string& path) {
  DataSpec spec;
  spec.name = "npy";
  spec.path = path;
  spec.train = "x";
  spec.train_labels = "y";
  spec.shape = {2};
  spec.outputs = 3;
  spec.train_examples = 2;
  return spec;
}

TEST_CASE("arrays of any of the types become features and labels") {
  const TemporaryFolder folder;
  folder.write("y.npy", bytes(npy<std::int64_t>("<i8", "(2,)", {2, 0})));
  auto spec = npy_spec(folder.path());
  spec.scale = 0.5;
  const auto check = [&](const std::string& file) {
    folder.write("x.npy", bytes(file));
    const auto train = read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2);
    CHECK(train.features == Floats{0.5, 1, 1.5, 2});
    CHECK(train.labels == std::vector<std::int32_t>{2, 0});
  };
  check(npy<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  check(npy<double>("<f8", "(2, 2)", {1, 2, 3, 4}));
  check(npy<std::uint8_t>("|u1", "(2, 2)", {1, 2, 3, 4}));
  check(npy<std::int16_t>("<i2", "(2, 2)", {1, 2, 3, 4}));
  check(npy<std::uint32_t>("<u4", "(2,2)", {1, 2, 3, 4}));
  spec.target = "number";
  spec.outputs = 1;
  CHECK(read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2).targets == Floats{2, 0});
}

TEST_CASE("arrays that are damaged or do not fit are refused by name") {
  const TemporaryFolder folder;
  folder.write("y.npy", bytes(npy<std::uint8_t>("|u1", "(2,)", {2, 0})));
  const auto good = npy<float>("<f4", "(2, 2)", {1, 2, 3, 4});
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"hello there", "this is no .npy file"},
      {good.substr(0, good.size() - 1), "15 bytes of values follow where the header's shape needs 16"},
      {good + "x", "17 bytes of values follow"},
      {npy<float>(">f4", "(2, 2)", {1, 2, 3, 4}), "its type is '>f4'"},
      {npy<float>("<c8", "(1, 2)", {1, 2, 3, 4}), "its type is '<c8'"},
      {npy<float>("<f4", "(2, 2)", {1, 2, 3, 4}, "True"), "Fortran order"},
      {npy<float>("<f4", "(4,)", {1, 2, 3, 4}), "has shape (4), but examples of shape (2)"},
      {npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}), "has 3 rows and y 2"},
      {npy<float>("<f4", "(4294967296, 4294967296)", {}), "has more than 4294967296 bytes"},
      {npy<float>("<f4", "(2, 2)", {1, 2, std::numeric_limits<float>::infinity(), 4}), "row 1: feature 0 is infinite"}};
  for (const auto& [file, why] : bad) {
    folder.write("x.npy", bytes(file));
    CHECK(contains(error_of([&] { open_dataset(npy_spec(folder.path()), ""); }), why));
  }
  folder.write("x.npy", bytes(good));
  folder.write("y.npy", bytes(npy<std::uint8_t>("|u1", "(2,)", {3, 0})));
  auto spec = npy_spec(folder.path());
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }),
                 "row 0: its label 3 is no whole number below data.outputs (3)"));
  spec.corrupt = "skip";
  spec.train_examples = 1;
  CHECK(read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 1).features == Floats{3, 4});
}

void add(std::string& text, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    text.push_back(static_cast<char>(i < sizeof value ? value >> (8 * i) & 0xFFU : 0));
  }
}

struct Packed {
  std::string name;
  std::string content;
};

// A gzip member's deflated part and checksum, in zip's frame.
std::string zip(const std::vector<Packed>& members) {
  std::string file;
  std::string directory;
  for (const auto& [name, content] : members) {
    const auto packed = gzip(bytes(content));
    constexpr std::size_t kHead = 10;
    const std::string deflated(packed.begin() + kHead, packed.end() - 8);
    const auto offset = file.size();
    std::string common;
    add(common, 20, 2);  // version, flags, method, time, date
    add(common, 0, 2);
    add(common, 8, 2);
    add(common, 0, 4);
    common.append(packed.end() - 8, packed.end() - 4);
    add(common, deflated.size(), 4);
    add(common, content.size(), 4);
    add(common, name.size(), 2);
    add(common, 0, 2);
    file += "PK\x03\x04" + common + name + deflated;
    directory += "PK\x01\x02";
    add(directory, 20, 2);
    directory += common;
    add(directory, 0, 10);
    add(directory, offset, 4);
    directory += name;
  }
  const auto begin = file.size();
  file += directory + "PK\x05\x06";
  add(file, 0, 4);
  add(file, members.size(), 2);
  add(file, members.size(), 2);
  add(file, directory.size(), 4);
  add(file, begin, 4);
  add(file, 0, 2);
  return file;
}

// All rows of an array, read one by one.
std::vector<Floats> rows_of(const std::filesystem::path& root, const std::string& name) {
  NpyRows rows(root, name);
  std::vector<Floats> all;
  for (std::vector<double> row; rows.next(row);) {
    all.emplace_back(row.begin(), row.end());
  }
  return all;
}

TEST_CASE("an array is the same row by row, and so is what is wrong with it") {
  const TemporaryFolder folder;
  const auto good = npy<float>("<f4", "(2, 2)", {1, 2, 3, 4});
  const std::vector<Floats> expected = {{1, 2}, {3, 4}};
  folder.write("x.npy", bytes(good));
  CHECK(rows_of(folder.path(), "x") == expected);
  folder.write("x.npy", gzip(bytes(good)));
  CHECK(rows_of(folder.path(), "x") == expected);
  CHECK(rows_of(folder.write("set.npz", bytes(zip({{"x.npy", good}}))), "x") == expected);
  CHECK(rows_of(folder.path() / "set.npz", "x.npy") == expected);
  CHECK(contains(error_of([&] { rows_of(folder.path() / "set.npz", "z"); }), "has no array 'z'; it has x.npy"));
  CHECK(contains(error_of([&] { rows_of(folder.path(), "z"); }), "z[.npy]: there is no such file"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    folder.write("x.npy", bytes(good.substr(0, size)));
    CHECK(contains(error_of([&] { rows_of(folder.path(), "x"); }), "x.npy: "));
  }
  folder.write("x.npy", bytes(good + "x"));
  CHECK(contains(error_of([&] { rows_of(folder.path(), "x"); }), "x.npy: more bytes follow the 2 rows"));
  folder.write("x.npy", bytes(npy<float>("|O", "(2, 2)", {1, 2, 3, 4})));
  CHECK(contains(error_of([&] { rows_of(folder.path(), "x"); }), "x.npy: its values are Python objects"));
}

TEST_CASE("a member larger than what is unpacked at once is whole, and damage to it is told at its end") {
  const TemporaryFolder folder;
  std::vector<std::uint32_t> values(1500000);
  std::uint32_t state = 1;
  for (auto& value : values) {
    value = state = state * 1664525U + 1013904223U;
  }
  auto packed = zip({{"x.npy", npy<std::uint32_t>("<u4", "(3, 500000)", values)}});
  const auto path = folder.write("set.npz", bytes(packed));
  const auto array = read_array(path, "x");
  REQUIRE(array.size() == values.size());
  bool same = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    same = same && array.at(i) == values[i];
  }
  CHECK(same);
  CHECK(rows_of(path, "x").size() == 3);
  const auto checksum = packed.find("PK\x01\x02") + 16;
  packed[checksum] = static_cast<char>(packed[checksum] ^ 1);
  folder.write("set.npz", bytes(packed));
  CHECK(contains(error_of([&] { rows_of(path, "x"); }), "member x.npy is damaged: its checksum is wrong"));
  CHECK(contains(error_of([&] { read_array(path, "x"); }), "member x.npy is damaged: its checksum is wrong"));
}

TEST_CASE("members of an .npz file are arrays, and damage to it is told") {
  const TemporaryFolder folder;
  const auto good =
      zip({{"x.npy", npy<float>("<f4", "(2, 2)", {1, 2, 3, 4})}, {"y.npy", npy<std::uint8_t>("|u1", "(2,)", {2, 0})}});
  const auto path = folder.write("set.npz", bytes(good));
  auto spec = npy_spec(path);
  CHECK(read_examples(*open_dataset(spec, ""), DataSplit::train, 0, 2).features == Floats{1, 2, 3, 4});
  spec.train = "z";
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "has no array 'z'; it has x.npy, y.npy"));
  spec.train = "x";
  for (const std::size_t at : {std::size_t{0}, std::size_t{45}, good.find("PK\x01\x02"), good.size() - 6}) {
    auto damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    folder.write("set.npz", bytes(damaged));
    CHECK_FALSE(error_of([&] { open_dataset(spec, ""); }).empty());
  }
  folder.write("set.npz", bytes(good.substr(0, good.size() / 2)));
  CHECK(contains(error_of([&] { open_dataset(spec, ""); }), "end mark is missing"));
}

TEST_CASE("a number that is written otherwise is known by how it is written, and nothing else is") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> known = {
      {"has a decimal comma", {"1,5", "-3,25", "+0,1", "1.234,5", "1.234.567,89", "12 345,6", "1,5e3", "1234,567"}},
      {"has separators between thousands",
       {"1,234,567", "1,234.5", "-12,345.678", "1.234.567", "1 234", "1'234'567.5", "1_000",
        "12\xC2\xA0"
        "500"}},
      {"has a comma, for decimals or between thousands", {"1,234", "-12,345"}},
      {"has blanks around it", {" 1", "2.5 ", "\t3"}},
      {"begins with a plus sign", {"+1", "+2.5e3"}},
      {"ends in a percent sign", {"12%", "3.5 %"}}};
  for (const auto& [fault, fields] : known) {
    for (const auto& field : fields) {
      CAPTURE(field);
      CHECK(number_fault(field).starts_with(fault));
    }
  }
  for (const std::string field :
       {"1",     "-2.5",     "1e-5",  "0",       ".5",  "",    "x",   "1x",         "a,b",
        "1,",    ",",        "1,2,3", "12,34.5", "++1", "+-1", "1 2", "2001-12-14", "10:30",
        "1.2.3", "1,23,456", "%",     "inf",     "nan", "+",   "-",   "1..2",       "68fd1e64"}) {
    CAPTURE(field);
    CHECK(number_fault(field).empty());
  }
  CHECK(number_fault(std::string(1000, '1') + ",5").empty());
}

}  // namespace
}  // namespace ballast
