#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/models/evaluate.h"
#include "cli/models/export.h"
#include "cli/models/predict.h"
#include "cli/models/prediction_output.h"
#include "common/job/evaluation_metrics.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"
#include "worker/data/examples.h"
#include "worker/training/evaluate.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

Json evaluated(const ModelSource& source, const std::string& split = "test") {
  return Json::parse(captured([&] { CHECK(evaluate({source, split, true}) == 0); }));
}

std::vector<std::vector<std::string>> table(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    line += ",";
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      rows.back().push_back(cell);
    }
  }
  return rows;
}

// The job's own model and data, asked without any of the commands' code.
EvaluationSums direct(const SampleRun& run, const SnapshotId& snapshot, DataSplit split) {
  const auto model = make_model(run.job.spec.model, run.job.shape, run.job.arena, on_cpu(1));
  const auto data = open_dataset(run.job.spec.data, "");
  return evaluate_examples(*model, *data, split, 0, data->size(split), run.weights(snapshot),
                           MetricCounter(metric_rules(run.job.spec.model, run.job.shape), run.job.shape));
}

TEST_CASE("a run is evaluated as its workers would, on either split and any snapshot") {
  const SampleRun run;
  run.write_ledger(true);
  const std::vector<std::pair<SnapshotChoice, SnapshotId>> snapshots = {
      {{}, kEnd}, {{4, false}, kEarly}, {{{}, true}, kEarly}};
  const std::vector<std::pair<std::string, DataSplit>> splits = {{"test", DataSplit::test},
                                                                 {"validation", DataSplit::validation}};
  for (const auto& snapshot : snapshots) {
    for (const auto& split : splits) {
      CAPTURE(split.first);
      const auto json = evaluated({run.path(), snapshot.first, "", ""}, split.first);
      const auto expected = direct(run, snapshot.second, split.second);
      CHECK(json["examples"] == expected.examples);
      CHECK(json["loss"].get<double>() == expected.loss_sum / expected.examples);
      CHECK(json["accuracy"].get<double>() == static_cast<double>(expected.correct) / expected.examples);
      CHECK(json["split"] == split.first);
      CHECK(json["job"] == "sample");
    }
  }
}

TEST_CASE("an exported file evaluates as the run does") {
  const SampleRun run;
  run.write_ledger(true);
  const auto file = run.file("out.safetensors");
  captured([&] { export_weights({run.path(), file, {}}); });
  auto of_file = evaluated({file, {}, run.job_file(), ""});
  auto of_run = evaluated({run.path(), {}, "", ""});
  CHECK(of_file["weights"] == "the weights in " + file);
  of_file.erase("weights");
  of_run.erase("weights");
  CHECK(of_file == of_run);
  auto alone = evaluated({file, {}, "", ""});  // the file holds its job
  alone.erase("weights");
  CHECK(alone == of_run);
}

TEST_CASE("each class's labels are counted, and a run's metrics are means over the classes") {
  const SampleRun run;
  run.write_ledger(true);
  const auto json = evaluated({run.path(), {}, "", ""});
  const auto expected = direct(run, kEnd, DataSplit::test);
  REQUIRE(json["classes"].size() == 10);
  std::uint64_t labelled = 0;
  double recall = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    const auto& one = json["classes"][i];
    const auto* const own = &expected.counted.counts[MetricCounts::kClasses + 3 * i];
    CHECK(one["class"] == std::to_string(i));
    CHECK(one["recall"] == class_metrics(own[0], own[1], own[2]).recall);
    labelled += one["labelled"].get<std::uint64_t>();
    recall += one["recall"].get<double>();
  }
  CHECK(labelled == 230);
  CHECK(json["metrics"]["recall"].get<double>() == doctest::Approx(recall / 10));
  CHECK(json["metrics"]["top5"].get<double>() >= json["accuracy"].get<double>());
}

TEST_CASE("text for people says the same") {
  const SampleRun run;
  run.write_ledger(true);
  const auto text = captured([&] { evaluate({{run.path(), {}, "", ""}, "test", false}); });
  CHECK(text.find("the final weights of") == 0);
  CHECK(text.find("test split, 230 examples: accuracy ") != std::string::npos);
  CHECK(text.find(" %, loss ") != std::string::npos);
  CHECK(text.find(", top5 ") != std::string::npos);
  CHECK(text.find("\nclass                             labelled precision    recall        f1\n0   ") !=
        std::string::npos);
  CHECK(std::ranges::count(text, '\n') == 2 + 1 + 10);
}

TEST_CASE("what cannot be evaluated is said, with what to do") {
  const SampleRun run;
  run.write_ledger(true);
  const auto file = run.file("out.safetensors");
  captured([&] { export_weights({run.path(), file, {}}); });
  const auto refused = [](const ModelSource& source, const std::string& split, const char* part) {
    CHECK_THROWS_WITH(evaluate({source, split, false}), doctest::Contains(part));
  };
  const auto foreign = run.file("foreign.safetensors");
  auto bytes = read_file(file);
  std::ofstream(foreign, std::ios::binary) << bytes.replace(bytes.find("job_file"), 8, "nob_file");
  refused({foreign, {}, "", ""}, "test", "add --job");
  refused({file, {4, false}, run.job_file(), ""}, "test", "leave --step, --best and --last-weights out");
  refused({run.file("none"), {}, "", ""}, "test", "there is no such run folder or safetensors file");

  const auto other = run.file("other.yaml");
  auto text = kSampleJob;
  std::ofstream(other) << text.replace(text.find("[12]"), 4, "[13]");
  refused({file, {}, other, ""}, "test", "'fc1.weight' is 12 x 784 in the file and 13 x 784 in the model");
  refused({run.path(), {}, other, ""}, "test", "layout");

  text = kSampleJob;
  const std::string held_out = ", validation_examples: 20";
  std::ofstream(other) << text.erase(text.find(held_out), held_out.size());
  refused({file, {}, other, ""}, "validation", "data.validation_examples is 0");
  refused({file, {}, other, ""}, "validation",
          "say --split test for its 230 test examples, or --split train for its 120");
}

void check_predictions(const SampleRun& run, const std::vector<std::vector<std::string>>& rows) {
  const auto data = open_dataset(run.job.spec.data, "");
  std::uint32_t correct = 0;
  double loss = 0;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    REQUIRE(row.size() == 15);
    CHECK(row[0] == std::to_string(i));
    CHECK(row[1].empty());  // drawn by a generator
    CHECK(row[2].empty());
    CHECK(row[3] == std::to_string(data->label(DataSplit::test, i)));
    std::vector<double> probabilities;
    for (std::size_t column = 5; column < 15; ++column) {
      probabilities.push_back(std::stod(row[column]));
    }
    CHECK(std::to_string(std::ranges::max_element(probabilities) - probabilities.begin()) == row[4]);
    correct += row[3] == row[4] ? 1 : 0;
    loss -= std::log(probabilities[std::stoul(row[3])]);
  }
  const auto expected = direct(run, kEnd, DataSplit::test);
  CHECK(correct == expected.correct);
  CHECK(loss == doctest::Approx(expected.loss_sum).epsilon(1e-5));
}

TEST_CASE("predictions of the test split agree with its evaluation, in both formats") {
  const SampleRun run;
  run.write_ledger(true);
  PredictOptions options;
  options.source = {run.path(), {}, "", ""};
  auto rows = table(captured([&] { CHECK(predict(options) == 0); }));
  REQUIRE(rows.size() == 231);
  CHECK(rows[0] == std::vector<std::string>{"index", "source", "error", "label", "predicted", "p0", "p1", "p2", "p3",
                                            "p4", "p5", "p6", "p7", "p8", "p9"});
  rows.erase(rows.begin());
  check_predictions(run, rows);

  options.format = "jsonl";
  options.output = run.file("predictions.jsonl");
  const auto said = captured([&] { CHECK(predict(options) == 0); });
  CHECK(said.find("230 predictions written to " + options.output) != std::string::npos);
  std::istringstream lines(read_file(options.output));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = Json::parse(line);
    const auto& row = rows.at(count);
    CHECK(json["index"].dump() == row[0]);
    CHECK(json["source"].is_null());
    CHECK(json["error"].is_null());
    CHECK(json["label"].dump() == row[3]);
    CHECK(json["predicted"].dump() == row[4]);
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK(json["probabilities"][i].get<float>() == std::stof(row[5 + i]));
    }
  }
  CHECK(count == 230);
}

TEST_CASE("predictions go into a pipe or device that is named, and do not replace it") {
  const SampleRun run;
  run.write_ledger(true);
  PredictOptions options;
  options.source = {run.path(), {}, "", ""};
  options.limit = 1;
  options.output = run.file("pipe");
  REQUIRE(::mkfifo(options.output.c_str(), 0600) == 0);
  const int reader = ::open(options.output.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);  // holds it open: nobody waits
  REQUIRE(reader >= 0);
  captured([&] { CHECK(predict(options) == 0); });
  CHECK(std::filesystem::is_fifo(options.output));
  std::array<char, 4096> text{};
  const auto size = ::read(reader, text.data(), text.size());
  REQUIRE(size > 0);
  CHECK(std::string(text.data(), static_cast<std::size_t>(size)).starts_with("index,source,error,label,predicted,p0"));
  ::close(reader);

  const auto target = run.file("target");
  std::ofstream(target) << "earlier";
  options.output = run.file("link");  // as /dev/stdout is one, which may lead to a file
  std::filesystem::create_symlink(target, options.output);
  captured([&] { CHECK(predict(options) == 0); });
  CHECK(std::filesystem::is_symlink(options.output));
  CHECK(read_file(target).starts_with("index,source,error,label,predicted,p0"));
}

void write_idx(const std::string& path, std::uint32_t rows, const std::string& pixels) {
  std::string text("\0\0\x08\x03", 4);
  for (const auto extent : {static_cast<std::uint32_t>(pixels.size() / (rows * 28)), rows, 28U}) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      text.push_back(static_cast<char>((extent >> static_cast<unsigned>(shift)) & 0xFFU));
    }
  }
  std::ofstream(path, std::ios::binary) << text << pixels;
}

// Pixels whose normalisation are the data set's features.
std::string pixels_of(const SampleRun& run, std::uint32_t count) {
  const auto data = open_dataset(run.job.spec.data, "");
  std::string pixels;
  for (const float feature : read_examples(*data, DataSplit::test, 0, count).features) {
    pixels.push_back(static_cast<char>(std::lround((feature * 0.3081F + 0.1307F) * 255)));
  }
  return pixels;
}

TEST_CASE("a limit leaves the predictions as they are, to the last bit") {
  const SampleRun run;
  run.write_ledger(true);
  PredictOptions options;
  options.source = {run.path(), {}, "", ""};
  const auto all = captured([&] { predict(options); });
  for (const std::uint64_t limit : {0, 1, 99, 100, 101, 230, 1000}) {
    CAPTURE(limit);
    options.limit = limit;
    const auto some = captured([&] { predict(options); });
    CHECK(std::ranges::count(some, '\n') == static_cast<std::ptrdiff_t>(1 + std::min<std::uint64_t>(limit, 230)));
    CHECK(all.starts_with(some));
  }
}

TEST_CASE("images of a file are predicted without labels, like the same images of the job") {
  const SampleRun run;
  run.write_ledger(true);
  PredictOptions options;
  options.source = {run.path(), {}, "", ""};
  options.limit = 7;
  const auto of_job = table(captured([&] { predict(options); }));
  REQUIRE(of_job.size() == 8);
  const auto input = run.file("images.idx");
  options.inputs = {input};
  write_idx(input, 28, pixels_of(run, 230));
  auto of_file = table(captured([&] { predict(options); }));
  REQUIRE(of_file.size() == 8);
  for (std::size_t i = 1; i < of_file.size(); ++i) {
    CHECK(of_file[i][1] == input + "[" + std::to_string(i - 1) + "]");
    CHECK(of_file[i][3].empty());
    of_file[i][1] = of_job[i][1];
    of_file[i][3] = of_job[i][3];
    CHECK(of_file[i] == of_job[i]);
  }
  options.format = "jsonl";
  CHECK(captured([&] { predict(options); }).find("\"label\":null") != std::string::npos);

  write_idx(input, 14, std::string(14 * 28, '\0'));
  CHECK_THROWS_WITH(predict(options), doctest::Contains("images.idx"));
}

TEST_CASE("an output that cannot be written is an error and leaves nothing") {
  const SampleRun run;
  run.write_ledger(true);
  PredictOptions options;
  options.source = {run.path(), {}, "", ""};
  options.output = run.file("no/folder/out.csv");
  CHECK_THROWS_WITH(predict(options), doctest::Contains("cannot be made"));
  options.output = run.file("out.csv");
  options.inputs = {run.file("none.idx")};
  CHECK_THROWS(predict(options));
  CHECK_FALSE(std::filesystem::exists(options.output));
  CHECK_FALSE(std::filesystem::exists(options.output + ".part-" + std::to_string(::getpid())));
}

TEST_CASE("of two processes that write predictions to one file, each gives it its own alone") {
  const SampleRun run;
  const auto path = run.file("out.csv");
  const std::string ours(200'000, 'a');
  const std::string theirs(100'000, 'b');
  PredictionOutput output(path);
  output.write(ours);
  const auto other = ::fork();
  if (other == 0) {
    int exit_code = 1;
    try {
      PredictionOutput second(path);
      second.write(theirs);
      second.close();
      exit_code = 0;
    } catch (...) {
    }
    ::_exit(exit_code);
  }
  int status = -1;
  REQUIRE(::waitpid(other, &status, 0) == other);
  CHECK(status == 0);
  CHECK(read_file(path) == theirs);
  output.write(ours);
  output.close();
  CHECK(read_file(path) == ours + ours);
}

}  // namespace
}  // namespace ballast
