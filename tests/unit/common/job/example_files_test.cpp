#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/job/config_error.h"
#include "common/job/example_file_checks.h"
#include "common/job/load.h"
#include "common/job/model_parameters.h"
#include "common/job/steps.h"

namespace ballast {
namespace {

using ToldSlips = std::vector<std::pair<std::string, std::string>>;

DataSpec sequences(const std::string& name) {
  DataSpec data;
  data.name = name;
  data.train = "train";
  data.train_examples = 100;
  data.steps = 64;
  data.vocabulary = name == "characters" ? 256 : 1000;
  if (name != "characters") {
    data.vocabulary_file = "words.txt";
    data.classes = {"a", "b"};
  }
  return data;
}

DataSpec table() {
  DataSpec data;
  data.name = "csv";
  data.train = "train.csv";
  data.train_examples = 100;
  data.classes = {"no", "yes"};
  data.columns = {{"age", CsvColumn::Kind::number}, {"sold", CsvColumn::Kind::label}};
  return data;
}

DataSpec arrays() {
  DataSpec data;
  data.name = "npy";
  data.train = "x";
  data.train_labels = "y";
  data.train_examples = 100;
  data.shape = {3, 4, 5};
  data.outputs = 10;
  return data;
}

ToldSlips told(const DataSpec& data) {
  ToldSlips all;
  check_example_files(data, [&](const std::string& path, const std::string& text) { all.emplace_back(path, text); });
  return all;
}

// That one key is refused, with such words.
void refused(const DataSpec& data, const std::string& path, const std::string& words) {
  const auto all = told(data);
  CAPTURE(path);
  REQUIRE(all.size() == 1);
  CHECK(all[0].first == path);
  CHECK(all[0].second.find(words) != std::string::npos);
}

TEST_CASE("data sections that say all that servers need are taken") {
  for (const char* name : {"text", "characters", "trees"}) {
    CHECK(told(sequences(name)).empty());
  }
  CHECK(told(table()).empty());
  CHECK(told(arrays()).empty());
  CHECK(told({.name = "glyphs"}).empty());
}

TEST_CASE("what is missing of a data section is told with an example") {
  auto data = sequences("text");
  data.steps = 0;
  refused(data, "data.steps", "is missing; data.name: text needs it, e.g. 256");
  data = sequences("trees");
  data.classes = {"only"};
  refused(data, "data.classes", "names one class alone");
  data = sequences("trees");
  data.test_examples = 5;
  refused(data, "data.test", "is missing");
  data = sequences("text");
  data.test = "test";
  refused(data, "data.test_examples", "is missing");
  data = sequences("characters");
  data.test_examples = 5;  // the test split follows the train split
  CHECK(told(data).empty());
  data.vocabulary = 300;
  refused(data, "data.vocabulary", "300 without data.vocabulary_file");
  data.vocabulary = 255;
  refused(data, "data.vocabulary", "less than the 256 bytes");
  data = arrays();
  data.shape = {4096, 4096, 2};
  refused(data, "data.shape", "more than 16777216 features");
  data.shape = {1, 2, 3, 4};
  refused(data, "data.shape", "has 4 extents");
}

TEST_CASE("polarity has two classes, and a table one kind of target and a feature") {
  auto data = sequences("trees");
  data.tree_labels = "polarity";
  data.classes = {"a", "b", "c"};
  refused(data, "data.classes", "names 3 classes");
  data = table();
  data.columns.push_back({"price", CsvColumn::Kind::target});
  refused(data, "data.columns", "exactly one kind of target");
  data = table();
  data.columns[1].kind = CsvColumn::Kind::flag;
  refused(data, "data.classes", "means nothing without a column of kind: label");
  data = table();
  data.columns[0].kind = CsvColumn::Kind::ignored;
  refused(data, "data.columns", "no column is a feature");
}

TEST_CASE("shapes and sizes follow from the data section alone") {
  const auto text = example_shape(sequences("text"));
  CHECK(text.vocabulary == 1000);
  CHECK(text.steps == 64);
  CHECK(text.classes == 2);
  CHECK_FALSE(text.same_length);
  CHECK(text.labels == Labels::classes);
  const auto characters = example_shape(sequences("characters"));
  CHECK(characters.classes == 256);
  CHECK(characters.same_length);
  CHECK(characters.labels == Labels::steps);
  CHECK(example_shape(sequences("trees")).trees);
  auto data = table();
  data.columns.push_back({"colour", CsvColumn::Kind::category, 0, 1, {"red", "green", "blue"}});
  CHECK(example_shape(data).features() == 4);
  CHECK(example_shape(arrays()).features() == 60);
  CHECK(split_sizes(arrays()).train == 100);
  CHECK(split_sizes(arrays()).test == 0);
}

constexpr const char* kTable =
    "job: t\nmodel: {name: mlp}\ntraining: {epochs: 1, batch: 16}\n"
    "data: {name: csv, train: t.csv, train_examples: 100, classes: ['0', '1'], missing: ['', NA], columns: ";

std::string error_with(const std::string& columns) {
  try {
    parse_job(std::string(kTable) + columns + "}\n", "job.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("columns are read and written, and what is wrong with one is told by its number") {
  const std::string good =
      "[{name: age, kind: number, mean: 38.5, deviation: 2}, {name: c, kind: category, values: [x, 'y, z']}, "
      "{name: id, kind: ignored}, {name: sold, kind: label}]";
  const auto job = parse_job(std::string(kTable) + good + "}\n", "job.yaml");
  CHECK(job.data.missing == std::vector<std::string>{"", "NA"});
  CHECK(job.data.columns[0].mean == 38.5);
  CHECK(job.data.columns[1].values == std::vector<std::string>{"x", "y, z"});
  CHECK(parse_job(to_yaml(job), "again").data.columns == job.data.columns);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"[{name: a, kind: nubmer}]", "column 1: 'nubmer' is no kind of a column"},
      {"[{name: a}, {kind: label}]", "column 2: a column has no name"},
      {"[{name: a}, {name: a, kind: label}]", "two columns are named 'a'"},
      {"[{name: a, kind: category}, {name: b, kind: label}]", "column 1: column 'a' is a category without values"},
      {"[{name: a, values: [x]}, {name: b, kind: label}]", "column 1: column 'a' has values"},
      {"[{name: a, deviation: 0}, {name: b, kind: label}]", "column 1: '0' is out of range"},
      {"[{name: a, scale: 1}]", "column 1: unknown key 'scale' of a column"}};
  for (const auto& [columns, why] : bad) {
    CAPTURE(columns);
    CHECK(error_with(columns).find(why) != std::string::npos);
  }
}

// A job of each set whose examples are no images, with `augment` on its third line.
std::vector<std::string> jobs_without_images(const std::string& augment) {
  const std::string sequences = "steps: 8, vocabulary: 256, train: a, train_examples: 100";
  const std::vector<std::pair<std::string, std::string>> sets = {
      {"text_cnn", "{name: text, classes: [a, b], vocabulary_file: w.txt, " + sequences + "}"},
      {"gpt", "{name: characters, " + sequences + "}"},
      {"tree_lstm", "{name: trees, classes: [a, b], vocabulary_file: w.txt, " + sequences + "}"},
      {"mlp", "{name: csv, train: t.csv, train_examples: 100, columns: [{name: a}, {name: b, kind: flag}]}"},
      {"mlp", "{name: npy, train: x, train_labels: y, train_examples: 100, shape: [1, 8, 8], outputs: 10}"}};
  std::vector<std::string> jobs;
  for (const auto& [model, data] : sets) {
    jobs.push_back("job: t\nmodel: {name: " + model + "}\ntraining: {epochs: 1, batch: 16" + augment +
                   "}\ndata: " + data + "\n");
  }
  return jobs;
}

std::string error_of_job(const std::string& text) {
  try {
    parse_job(text, "job.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("images alone are augmented: other sets refuse each key by file, line and remedy") {
  for (const auto& job : jobs_without_images("")) {
    CHECK(error_of_job(job).empty());
  }
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"shift", "1"}, {"rotation", "15"},    {"shear", "0.1"},    {"zoom", "0.1"},      {"flip", "0.5"},
      {"crop", "1"},  {"brightness", "0.1"}, {"contrast", "0.1"}, {"saturation", "0.1"}};
  for (const auto& [key, value] : keys) {
    for (const auto& job : jobs_without_images(", augment: {" + key + ": " + value + "}")) {
      CAPTURE(job);
      CHECK(error_of_job(job) == "job.yaml:3: training.augment." + key +
                                     ": means nothing here; it is allowed only with data.name: mnist, glyphs, idx, "
                                     "cifar10, images; remove it");
    }
  }
}

}  // namespace
}  // namespace ballast
