// `ballast predict` of models that predict something else than one class of each example.
#include <doctest/doctest.h>

#include <algorithm>

#include "cli/models/prediction_kinds.h"
#include "tests/unit/cli/models/predicted_run.h"

namespace ballast {
namespace {

using Json = PredictedRun::Json;
using Row = PredictedRun::Row;

std::vector<float> floats(const Row& row, std::size_t begin, std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = begin; i < begin + count; ++i) {
    values.push_back(std::stof(row.at(i)));
  }
  return values;
}

std::vector<float> part(const std::vector<float>& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

const std::string kRows = "age,price,rooms,wet\n20,100,3,1\n35,250,4,0\n50,70.5,2,1\n";

std::string rows_data(const std::string& columns) {
  return "{name: csv, train: rows.csv, train_examples: 3, test: rows.csv, test_examples: 3, columns: "
         "[{name: age, mean: 40, deviation: 10}, " +
         columns + "]}";
}

TEST_CASE("predicted numbers stand beside their targets, and what they mean is said where columns are normalised") {
  PredictedRun run(job_text("{name: mlp, hidden: [5]}", rows_data("{name: rooms, kind: target}, {name: price, kind: "
                                                                  "target, mean: 100, deviation: 50}")),
                   {{"rows.csv", kRows}});
  const auto rows = run.csv();
  const auto objects = run.json();
  REQUIRE(rows.size() == 4);
  REQUIRE(objects.size() == 3);
  CHECK(rows[0] == Row{"index", "source", "error", "target0", "target1", "predicted0", "predicted1"});
  const auto predicted = run.predictions(run.examples(3), 6);
  const std::vector<std::vector<float>> targets = {{3, 0}, {4, 3}, {2, -0.59F}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rows[i + 1][0] == std::to_string(i));
    CHECK(rows[i + 1][1] == run.file("rows.csv") + ":" + std::to_string(i + 2));
    CHECK(rows[i + 1][2].empty());
    CHECK(floats(rows[i + 1], 3, 2) == targets[i]);
    CHECK(floats(rows[i + 1], 5, 2) == part(predicted, 2 * i, 2));
    CHECK(objects[i]["index"] == i);
    CHECK(objects[i]["source"] == rows[i + 1][1]);
    CHECK(objects[i]["error"].is_null());
    CHECK(objects[i]["targets"].get<std::vector<float>>() == targets[i]);
    CHECK(objects[i]["predicted"].get<std::vector<float>>() == part(predicted, 2 * i, 2));
  }
  CHECK(meaning_of_numbers(run.job) ==
        "targets and predictions are normalised as the job says: number 1 is (price - 100) / 50");
  const auto plain =
      make_job(parse_job(job_text("{name: mlp, hidden: [5]}", rows_data("{name: rooms, kind: target}")), "plain"));
  CHECK(meaning_of_numbers(plain).empty());
}

TEST_CASE("of several classes each one's label and probability are told") {
  PredictedRun run(job_text("{name: mlp, hidden: [5]}", rows_data("{name: wet, kind: flag}")), {{"rows.csv", kRows}});
  const auto rows = run.csv();
  const auto objects = run.json();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == Row{"index", "source", "error", "label0", "p0"});
  const auto predicted = run.predictions(run.examples(3), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rows[i + 1][3] == (i == 1 ? "0" : "1"));
    CHECK(floats(rows[i + 1], 4, 1) == part(predicted, i, 1));
    CHECK((predicted[i] > 0 && predicted[i] < 1));
    CHECK(objects.at(i)["labels"] == Json({i == 1 ? 0.0 : 1.0}));
    CHECK(objects[i]["probabilities"].get<std::vector<float>>() == part(predicted, i, 1));
  }
}

TEST_CASE("of sequences each labelled step has a line") {
  const std::string data =
      "{name: trees, train: t.txt, train_examples: 2, test: t.txt, test_examples: 2, classes: [bad, good], "
      "tree_labels: polarity, steps: 5, vocabulary: 4, vocabulary_file: words.txt}";
  PredictedRun run(
      job_text("{name: tree_lstm, embedding: 3, units: 4}", data),
      {{"t.txt", "(3 (2 It) (4 works))\n(1 (2 (1 a) (2 b)) (0 c))\n"}, {"words.txt", "<pad>\n<unk>\nit\nworks\n"}});
  const auto rows = run.csv();
  const auto objects = run.json();
  CHECK(rows.at(0) == Row{"index", "source", "error", "step", "label", "predicted", "p0", "p1"});
  const std::vector<std::array<std::size_t, 3>> labelled = {{0, 1, 1}, {0, 2, 1}, {1, 0, 0}, {1, 3, 0}, {1, 4, 0}};
  REQUIRE(rows.size() == labelled.size() + 1);
  REQUIRE(objects.size() == labelled.size());
  const auto predicted = run.predictions(run.examples(2), 2 * 5 * 2);
  for (std::size_t i = 0; i < labelled.size(); ++i) {
    const auto [index, step, label] = labelled[i];
    const auto probabilities = part(predicted, (index * 5 + step) * 2, 2);
    const auto likeliest = std::to_string(probabilities[1] > probabilities[0] ? 1 : 0);
    CHECK(part(predicted, (index * 5 + step) * 2, 2) == floats(rows[i + 1], 6, 2));
    CHECK(Row(rows[i + 1].begin(), rows[i + 1].begin() + 6) ==
          Row{std::to_string(index), run.file("t.txt") + ":" + std::to_string(index + 1), "", std::to_string(step),
              std::to_string(label), likeliest});
    CHECK(objects[i]["index"] == index);
    CHECK(objects[i]["step"] == step);
    CHECK(objects[i]["label"] == label);
    CHECK(objects[i]["predicted"].dump() == likeliest);
    CHECK(objects[i]["probabilities"].get<std::vector<float>>() == probabilities);
  }
}

TEST_CASE("of autoencoders the reconstruction is told, also of images in a file") {
  PredictedRun run(job_text("{name: autoencoder, hidden: [3]}", "{name: glyphs, train_examples: 40, test_examples: 7}"),
                   {});
  const auto rows = run.csv();
  REQUIRE(rows.size() == 8);
  CHECK(rows[0].size() == 787);
  CHECK(rows[0][3] == "r0");
  const auto predicted = run.predictions(run.examples(7), 7 * std::size_t{784});
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(floats(rows[i + 1], 3, 784) == part(predicted, i * 784, 784));
  }
  CHECK(run.json().at(6)["reconstruction"].get<std::vector<float>>() == part(predicted, std::size_t{6} * 784, 784));
  CHECK(meaning_of_numbers(run.job) ==
        "reconstructed values are normalised as the job says: (x / 255 - mean) / deviation, mean [0.1307], "
        "deviation [0.3081]");

  run.options.inputs = {run.file("images.idx")};
  std::ofstream(run.options.inputs[0], std::ios::binary)
      << std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c", 16) << std::string(std::size_t{2} * 784, '\x20');
  const auto of_file = run.csv();
  REQUIRE(of_file.size() == 3);
  CHECK(of_file[2].size() == 787);
  CHECK(Row(of_file[1].begin() + 2, of_file[1].end()) == Row(of_file[2].begin() + 2, of_file[2].end()));
}

TEST_CASE("a model that computes no network predicts nothing, and says so") {
  PredictedRun run(
      job_text("{name: emulated, parameters: [{name: a, shape: [3]}]}", "{name: none, train_examples: 40}"), {});
  CHECK_THROWS_WITH(predict(run.options), "job sample: its model, emulated, computes no network and predicts nothing");
}

}  // namespace
}  // namespace ballast
