// `ballast predict` of a user's own files, and of examples that cannot be read; `ballast evaluate` of these.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/models/evaluate.h"
#include "common/command/usage_error.h"
#include "tests/unit/cli/models/predicted_run.h"
#include "tests/unit/worker/data/pictures.h"

namespace ballast {
namespace {

using Row = PredictedRun::Row;
using Json = PredictedRun::Json;
using Files = std::vector<std::pair<std::string, std::string>>;

std::string text_of_bytes(const testing::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// Two classes, one of which has a comma in a file's name.
Files picture_files() {
  using testing::picture;
  return {{"split/cat/a.png", text_of_bytes(testing::png(picture(3, 6, 6, 1)))},
          {"split/cat/b.jpg", text_of_bytes(testing::jpeg(picture(1, 12, 9, 2)))},
          {"split/dog/c.png", text_of_bytes(testing::png(picture(3, 3, 5, 3)))},
          {"split/dog/d.png", text_of_bytes(testing::png(picture(3, 8, 8, 4)))}};
}

std::string pictures_job(const std::string& more = "") {
  return job_text("{name: mlp, hidden: [5]}",
                  "{name: images, train: split, test: split, classes: [cat, dog], channels: 3, height: 6, width: 6, "
                  "train_examples: 4, test_examples: 4, mean: [0.5, 0.25, 0.125], deviation: [0.5, 0.25, 2]" +
                      more + "}");
}

// By the path's end behind `folder`.
std::map<std::string, Row> by_source(const std::vector<Row>& rows, const std::string& folder) {
  std::map<std::string, Row> map;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].at(1).starts_with(folder));
    map[rows[i][1].substr(folder.size())] = rows[i];
  }
  return map;
}

TEST_CASE("a folder of one's own is predicted as the same files of the split are, and each line names its file") {
  PredictedRun run(pictures_job(), picture_files());
  const auto of_split = by_source(run.csv(), run.file("split/"));
  REQUIRE(of_split.size() == 4);
  CHECK(of_split.at("cat/b.jpg")[3] == "0");
  CHECK(of_split.at("dog/c.png")[3] == "1");
  run.options.source.data_path.clear();
  run.options.inputs = {run.file("split")};
  const auto rows = run.csv();
  const auto of_input = by_source(rows, run.file("split/"));
  REQUIRE(of_input.size() == 4);
  for (const auto& entry : of_split) {
    const auto& row = entry.second;
    CAPTURE(entry.first);
    const auto& other = of_input.at(entry.first);
    CHECK(other[3].empty());
    CHECK(other[4] == row[4]);
    CHECK(std::stof(other[5]) == doctest::Approx(std::stof(row[5])).epsilon(1e-6));
    CHECK(std::stof(other[6]) == doctest::Approx(std::stof(row[6])).epsilon(1e-6));
  }
  CHECK(rows[4][0] == "3");

  run.options.inputs = {run.file("split/dog/d.png"), run.file("split/cat")};
  const auto two = run.csv();
  REQUIRE(two.size() == 4);
  CHECK(two[1][1] == run.file("split/dog/d.png"));
  CHECK(two[3][0] == "2");
  CHECK(two[3][1] == run.file("split/cat/b.jpg"));
}

TEST_CASE("a corrupt image has a line that says so and no other's prediction, and is not evaluated") {
  auto files = picture_files();
  files[1].second.resize(100);  // cat/b.jpg
  PredictedRun run(pictures_job(", corrupt: skip"), files);
  const auto rows = run.csv();
  REQUIRE(rows.size() == 5);
  double loss = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    if (row[1] == run.file("split/cat/b.jpg")) {
      CHECK(row[2].starts_with("corrupt: byte "));
      CHECK(std::all_of(row.begin() + 3, row.end(), [](const std::string& field) { return field.empty(); }));
      CHECK(row.size() >= 6);
    } else {
      CHECK(row[2].empty());
      loss -= std::log(std::stod(row.at(5 + std::stoul(row[3]))));
    }
  }
  const auto objects = run.json();
  const auto corrupt = std::ranges::find_if(objects, [](const Json& object) { return !object["error"].is_null(); });
  REQUIRE(corrupt != objects.end());
  CHECK((*corrupt)["source"] == run.file("split/cat/b.jpg"));
  CHECK((*corrupt)["label"].is_null());
  CHECK((*corrupt)["predicted"].is_null());
  CHECK((*corrupt)["probabilities"].is_null());

  const auto json = Json::parse(captured([&] { evaluate({run.options.source, "", true}); }));
  CHECK(json["examples"] == 3);
  CHECK(json["left_out"] == 1);
  CHECK(json["loss"].get<double>() == doctest::Approx(loss / 3).epsilon(1e-5));
  CHECK(json["classes"][0]["labelled"] == 1);
  const auto text = captured([&] { evaluate({run.options.source, "", false}); });
  CHECK(text.find("test split, 3 examples (corrupt and left out: 1): accuracy") != std::string::npos);

  run.options.source.data_path.clear();
  run.options.inputs = {run.file("split")};  // whatever the job says of its own
  const auto of_input = by_source(run.csv(), run.file("split/"));
  CHECK(of_input.size() == 4);
  CHECK(of_input.at("cat/b.jpg")[2].starts_with("corrupt: byte "));
}

TEST_CASE("where no example can be read the lines say why, and the command fails") {
  auto files = picture_files();
  for (auto& file : files) {
    file.second.resize(30);
  }
  PredictedRun run(pictures_job(", corrupt: skip"), files);
  run.options.format = "jsonl";
  const auto text = captured([&] { CHECK(predict(run.options) == 1); });
  CHECK(std::ranges::count(text, '\n') == 4);
  CHECK(text.find("\"error\":\"corrupt: byte ") != std::string::npos);
}

TEST_CASE("with data.corrupt: fatal a corrupt image of the split ends the command") {
  auto files = picture_files();
  files[1].second.resize(100);
  PredictedRun run(pictures_job(), files);
  CHECK_THROWS_WITH(predict(run.options), doctest::Contains("set data.corrupt: skip"));
}

const std::string kTable = "age,price,sold\n20,100,1\n35,250,0\n50,70.5,1\n65,10,0\n";

std::string table_job(const std::string& sizes) {
  return job_text("{name: mlp, hidden: [5]}", "{name: csv, train: rows.csv, " + sizes +
                                                  ", columns: [{name: age, mean: 40, deviation: 10}, "
                                                  "{name: price, kind: target, mean: 100, deviation: 50}]}");
}

TEST_CASE("a table without its targets is predicted row by row, and a row that cannot be read is told") {
  PredictedRun run(table_job("train_examples: 4, test: rows.csv, test_examples: 4"), {{"rows.csv", kTable}});
  const auto of_split = run.csv();
  REQUIRE(of_split.size() == 5);
  std::ofstream(run.file("own.csv")) << "age\n20\n35\nold\n50\n65\n";
  run.options.source.data_path.clear();
  run.options.inputs = {run.file("own.csv")};
  const auto of_input = run.csv();
  REQUIRE(of_input.size() == 6);
  for (const std::size_t i : {1, 2, 4, 5}) {
    const auto& row = of_split[i > 3 ? i - 1 : i];
    CHECK(of_input[i][1] == run.file("own.csv") + ":" + std::to_string(i + 1));
    CHECK(of_input[i][3].empty());
    CHECK(of_input[i][4] == row[4]);
  }
  CHECK(of_input[3][2] == "\"corrupt: column 1: age: 'old' is no number; if it says that the value is missing");
  CHECK(run.json()[3]["targets"].is_null());
}

TEST_CASE("without test examples the validation split is asked, and without both it must be said which") {
  PredictedRun run(table_job("train_examples: 5, validation_examples: 1"), {{"rows.csv", kTable + "70,20,1\n"}});
  const auto rows = run.csv();
  REQUIRE(rows.size() == 2);
  CHECK(rows[1][1] == run.file("rows.csv") + ":6");
  const auto json = Json::parse(captured([&] { evaluate({run.options.source, "", true}); }));
  CHECK(json["split"] == "validation");
  run.options.split = "test";
  CHECK_THROWS_WITH(predict(run.options),
                    "job sample has no test examples; say --split validation for its 1 validation examples, or "
                    "--split train for its 4 train examples");
  run.options.split = "train";
  CHECK(run.csv().size() == 5);

  PredictedRun bare(table_job("train_examples: 4"), {{"rows.csv", kTable}});
  CHECK_THROWS_WITH(predict(bare.options),
                    "job sample has no test or validation examples; say --split train for its 4 train examples");
}

TEST_CASE("inputs that hold nothing to predict, and options that mean nothing with them, are refused") {
  PredictedRun run(pictures_job(), picture_files());
  std::ofstream(run.file("notes.txt")) << "no image";
  std::filesystem::create_directories(run.file("empty"));
  run.options.source.data_path.clear();
  run.options.inputs = {run.file("empty")};
  CHECK_THROWS_WITH(predict(run.options), doctest::Contains("empty: holds no example of the job's kind (data.name: "
                                                            "images)"));
  run.options.inputs = {run.file("nothing")};
  CHECK_THROWS_WITH(predict(run.options), doctest::Contains("nothing: there is no such file or folder"));
  run.options.inputs = {run.file("split")};
  run.options.source.data_path = run.folder.path();
  CHECK_THROWS_AS(predict(run.options), UsageError);
}

TEST_CASE("errors of numbers are said to be normalised, and each target's is told in its own units") {
  PredictedRun run(table_job("train_examples: 4, test: rows.csv, test_examples: 4"), {{"rows.csv", kTable}});
  double sum = 0;
  for (const auto& object : run.json()) {
    const auto error = 50 * (object["predicted"][0].get<double>() - object["targets"][0].get<double>());
    sum += error * error;
  }
  const auto json = Json::parse(captured([&] { evaluate({run.options.source, "", true}); }));
  REQUIRE(json["targets"].size() == 1);
  CHECK(json["targets"][0]["target"] == "price");
  CHECK(json["targets"][0]["root_mean_squared_error"].get<double>() == doctest::Approx(std::sqrt(sum / 4)));
  CHECK(json["metrics"]["squared_error"].get<double>() == doctest::Approx(sum / 4 / 2500));
  const auto text = captured([&] { evaluate({run.options.source, "", false}); });
  CHECK(text.find("\nloss and errors are in normalised units: targets and predictions are normalised as the job says: "
                  "number 0 is (price - 100) / 50\n") != std::string::npos);
  CHECK(text.find("\ntarget                           root mean squared error, in its own units\nprice   ") !=
        std::string::npos);
}

}  // namespace
}  // namespace ballast
