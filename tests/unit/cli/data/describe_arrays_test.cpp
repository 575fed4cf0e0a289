// `ballast data describe` of arrays.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "cli/data/describe.h"
#include "common/job/load.h"
#include "tests/unit/worker/data/files.h"
#include "worker/data/dataset.h"
#include "worker/data/examples.h"

namespace ballast {
namespace {

using testing::Bytes;
using testing::bytes;
using testing::contains;
using testing::error_of;

DataSpec array_data_of(const Description& described) {
  INFO(described.section);
  return parse_job(
             "job: t\nmodel: {name: autoencoder}\ntraining: {epochs: 1, batch: 1, slots: 1}\n" + described.section,
             "job.yaml")
      .data;
}

Bytes npy_file(const std::string& type, const std::string& shape, const std::string& values) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
  return bytes(std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values);
}

TEST_CASE("arrays are told with their shape and what their labels are") {
  const testing::TemporaryFolder folder;
  folder.write("x_train.npy", npy_file("|u1", "3, 1, 2, 2", std::string(12, '\x33')));
  folder.write("y_train.npy", npy_file("|u1", "3,", std::string("\0\2\1", 3)));
  folder.write("x_test.npy", npy_file("|u1", "1, 1, 2, 2", std::string(4, '\0')));
  folder.write("y_test.npy", npy_file("|u1", "1,", std::string("\3", 1)));
  DescribeOptions options{.folder = folder.path()};
  const auto data = array_data_of(describe(options));
  CHECK(data.name == "npy");
  CHECK(data.shape == std::vector<std::uint32_t>{1, 2, 2});
  CHECK(data.outputs == 4);
  CHECK(data.test_examples == 1);
  CHECK(read_examples(*open_dataset(data, ""), DataSplit::train, 0, 1).features == std::vector<float>(4, 0.2F));

  options.train_labels = options.test_labels = "bits";
  options.test = "x_train";
  folder.write("bits.npy", npy_file("|u1", "3, 2", std::string("\0\1\1\1\0\0", 6)));
  CHECK(array_data_of(describe(options)).target == "several");
  folder.write("bits.npy", npy_file("|i1", "3, 2", std::string("\0\1\1\1\0\xff", 6)));
  CHECK(array_data_of(describe(options)).target == "number");
  folder.write("bits.npy", npy_file("|i1", "2, 2", std::string("\0\1\1\1", 4)));
  CHECK(contains(error_of([&] { describe(options); }), "array x_train has 3 rows and bits 2; they must be as many"));
  options.normalise = true;
  CHECK(contains(error_of([&] { describe(options); }), "--normalise: arrays have data.scale alone"));
}

// The bytes of numbers as an array holds them.
template <class Value>
std::string array_values(const std::vector<Value>& values) {
  std::string content(values.size() * sizeof(Value), '\0');
  std::memcpy(content.data(), values.data(), content.size());
  return content;
}

// Three rows of two features, and these labels.
struct LabelledRows {
  LabelledRows() { features({1, 2, 3, 4, 5, 6}); }
  void features(const std::vector<float>& values) const {
    folder.write("x_train.npy", npy_file("<f4", "3, 2", array_values(values)));
  }
  void labels(const std::string& shape, const std::vector<double>& values) const {
    folder.write("y_train.npy", npy_file("<f8", shape, array_values(values)));
  }
  Description described(const std::string& labels = "") const {
    return describe({.folder = folder.path(), .array_labels = labels});
  }

  testing::TemporaryFolder folder;
};

TEST_CASE("what labels are is told by their values, and what else they may be is said") {
  const LabelledRows rows;
  rows.labels("3,", {0, 2, 1});
  CHECK(array_data_of(rows.described()).target == "class");
  CHECK(array_data_of(rows.described()).outputs == 3);
  CHECK(array_data_of(rows.described("number")).target == "number");
  rows.labels("3,", {0.5, -2, 1});
  CHECK(array_data_of(rows.described()).target == "number");
  rows.labels("3,", {200000, 350000, 420000});
  CHECK(array_data_of(rows.described()).target == "number");
  CHECK(contains(rows.described().section, "# labels reach 420000, beyond the rows' number, so labels are numbers"));
  rows.labels("3, 2", {0, 1, 1, 0, 1, 0});
  CHECK(array_data_of(rows.described()).target == "several");
  CHECK(contains(rows.described().section, "# each row has exactly one 1; if one of 2 classes is right, save "));
  rows.labels("3, 2", {0, 1, 1, 1, 0, 0});
  CHECK_FALSE(contains(rows.described().section, "exactly one 1"));
  rows.labels("3, 1", {0, 2, 1});
  CHECK(array_data_of(rows.described()).target == "number");
  CHECK(contains(rows.described().section, "# labels have a column of their own; if they are classes, save y.resh"));
  CHECK(contains(error_of([&] { rows.described("class"); }),
                 "array y_train has shape (3, 1); --labels class needs one number for each row"));
}

TEST_CASE("whole numbers for each step are told as what they become") {
  const testing::TemporaryFolder folder;
  folder.write("x_train.npy", npy_file("<f4", "2, 3, 1", array_values<float>({1, 2, 3, 4, 5, 6})));
  folder.write("y_train.npy", npy_file("<f8", "2, 3", array_values<double>({0, 2, 1, 2, 2, 0})));
  const auto described = describe({.folder = folder.path()});
  CHECK(contains(described.section, "# a whole number for each of 3 steps; classes of steps are not read from arrays"));
  CHECK(contains(described.section, "\n  shape: [3, 1]\n  outputs: 3\n"));
  CHECK(contains(described.section, "\n  target: number\n"));
}

TEST_CASE("rows that cannot be read are named and left out, as workers leave them out") {
  const LabelledRows rows;
  rows.labels("3,", {0, 1, 1});
  rows.features({1, 2, 3, std::numeric_limits<float>::quiet_NaN(), 5, 6});
  const auto where = rows.folder.path().string() + ": array x_train, row 1: ";
  auto described = rows.described();
  REQUIRE(described.corrupt.size() == 1);
  CHECK(described.corrupt[0] == where + "feature 1 is infinite or not a number (nan)");
  CHECK(contains(described.section, "# train: 1 of class 0, 1 of class 1; 1 corrupt\n  train_examples: 2\n"));
  CHECK(open_dataset(array_data_of(described), "")->corrupt() == 1);

  rows.features({1, 2, 3, 4, 5, 6});
  rows.labels("3,", {0, std::numeric_limits<double>::infinity(), 1});
  CHECK(rows.described().corrupt[0] == where + "its label inf is no whole number below data.outputs (2)");
  for (const double value : {-1.0, 0.5}) {
    rows.labels("3,", {0, value, 1});
    described = rows.described();
    CHECK(array_data_of(described).target == "number");
    const std::string text = value < 0 ? "-1" : "0.5";
    CHECK(contains(described.section, "# row 1 of y_train has " + text + ", so labels are numbers to be predicted"));
    described = rows.described("class");
    CHECK(described.corrupt[0] == where + "its label " + text + " is no whole number below data.outputs (2)");
    CHECK(array_data_of(described).corrupt == "skip");
    CHECK(open_dataset(array_data_of(described), "")->size(DataSplit::train) == 2);
  }
  rows.labels("3,", {-1, 0.5, -3});
  CHECK(contains(error_of([&] { rows.described("class"); }), "no row is a class, a whole number from 0 to 1048575: "));
}

TEST_CASE("arrays that do not fit are refused with file, shape and remedy") {
  const testing::TemporaryFolder folder;
  const auto refused = [&](const Bytes& x, const Bytes& y, const std::string& why) {
    folder.write("x_train.npy", x);
    folder.write("y_train.npy", y);
    CHECK(contains(error_of([&] { describe({.folder = folder.path()}); }), why));
  };
  const auto values = [](std::size_t count) { return std::string(count * 4, '\0'); };
  const auto x = npy_file("<f4", "3, 2", values(6));
  const auto y = npy_file("<i4", "3,", values(3));
  refused(npy_file("<f4", "0, 2", ""), npy_file("<i4", "0,", ""), "array x_train has shape (0, 2): no row");
  refused(npy_file("<f4", "", values(1)), y, "array x_train has shape (): a single value");
  refused(npy_file("<f4", "3, 0", ""), y, "array x_train has shape (3, 0): its rows have no value");
  refused(npy_file("<f4", "3,", values(3)), y, "array x_train has 1 extents; rows of 1 to 3 are needed");
  refused(x, npy_file("<i4", "", values(1)), "array y_train has shape (): a single value");
  refused(x, npy_file("<i4", "2,", values(2)), "array x_train has 3 rows and y_train 2; they must be as many");
  refused(x, npy_file("<i4", "3, 1, 1", values(3)), "array y_train has 3 extents");
  refused(npy_file("|O", "3, 2", values(6)), y, "x_train.npy: its values are Python objects");
  refused(npy_file("<U4", "3, 2", values(6)), y, "x_train.npy: its type is '<U4'");
  refused(npy_file("<f4", "3, 2", values(5)), y, "x_train.npy: the file ends within row 2 of the 3 rows");
  refused(npy_file("<f4", "3, 2", values(7)), y, "x_train.npy: more bytes follow the 3 rows");
  refused(x, npy_file("<i4", "3,", values(2)), "y_train.npy: the file ends within row 2");
  auto fortran = std::string(x.begin(), x.end());
  fortran.replace(fortran.find("False"), 5, "True ");
  refused(bytes(fortran), y, "x_train.npy: it is in Fortran order; write numpy.ascontiguousarray of it");
  folder.write("x_test.npy", npy_file("<f4", "3, 1", values(3)));
  folder.write("y_test.npy", y);
  refused(x, y, "array x_test has shape (3, 1) where x_train has (3, 2)");
  folder.write("x_test.npy", x);
  folder.write("y_test.npy", npy_file("<i4", "3, 1", values(3)));
  refused(x, y, "array y_test has shape (3, 1) where y_train has (3,)");
}

TEST_CASE("one class alone, and splits of bytes and of other numbers, are told") {
  const testing::TemporaryFolder folder;
  folder.write("x_train.npy", npy_file("|u1", "2, 2", "abcd"));
  folder.write("y_train.npy", npy_file("|u1", "2,", std::string(2, '\0')));
  folder.write("x_test.npy", npy_file("<f4", "1, 2", std::string(8, '\0')));
  folder.write("y_test.npy", npy_file("|u1", "1,", std::string(1, '\0')));
  const auto described = describe({.folder = folder.path()});
  REQUIRE(described.warnings.size() == 2);
  CHECK(contains(described.warnings[0], "of x_train and x_test one has bytes and the other other numbers"));
  CHECK(contains(described.warnings[1], "all labels are 0: there is one class alone"));
  CHECK(array_data_of(described).scale == 1);
}

// Kilobytes that this process has in memory.
long resident() {
  long pages = 0;
  long in_memory = 0;
  std::ifstream("/proc/self/statm") >> pages >> in_memory;
  return in_memory * (::sysconf(_SC_PAGESIZE) / 1024);
}

TEST_CASE("arrays are read row by row, however large they are") {
  const testing::TemporaryFolder folder;
  constexpr std::size_t kRows = 320;
  const auto path = folder.write("x_train.npy", npy_file("|u1", std::to_string(kRows) + ", 1048576", ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + (kRows << 20U));  // zeros that take no disk
  std::string labels(kRows, '\0');
  labels[0] = 1;
  folder.write("y_train.npy", npy_file("|u1", std::to_string(kRows) + ",", labels));
  const auto before = resident();
  const auto child = ::fork();
  if (child == 0) {
    std::string section;
    const auto error = error_of([&] { section = describe({.folder = folder.path()}).section; });
    ::_exit(contains(section, "train_examples: 320") && error.empty() ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(::wait4(child, &status, 0, &usage) == child);
  CHECK(status == 0);
  CHECK(usage.ru_maxrss - before < 160 * 1024);  // the array has 320 MiB
}

}  // namespace
}  // namespace ballast
