// Weights are asked with a job that agrees with their own.
#include "cli/models/same_job.h"

#include <doctest/doctest.h>

#include "cli/models/evaluate.h"
#include "cli/models/export.h"
#include "tests/unit/cli/models/predicted_run.h"

namespace ballast {
namespace {

Job job_of_data(const std::string& data, const std::string& model = "{name: mlp, hidden: [5]}") {
  return make_job(parse_job(job_text(model, data), "a test's"));
}

WeightsOrigin origin_of(const Job& job, bool with_job = true) {
  auto metadata = example_metadata(job);
  metadata["model"] = job.spec.model.name;
  return {"w.safetensors", metadata, with_job ? job.yaml : "", "mend it"};
}

std::string images_data(const std::string& classes, const std::string& size, const std::string& mean) {
  return "{name: images, train: a, test: b, classes: [" + classes + "], channels: 1, " + size +
         ", train_examples: 40, test_examples: 7, mean: [" + mean + "]}";
}

const std::string kSize = "height: 4, width: 6";

TEST_CASE("classes, normalisation and size that differ are refused, also by a file's metadata alone") {
  const auto own = job_of_data(images_data("cat, dog", kSize, "0.5"));
  for (const bool with_job : {true, false}) {
    CAPTURE(with_job);
    const auto origin = origin_of(own, with_job);
    CHECK(check_same_job(origin, own, "job.yaml").empty());
    const auto refused = [&](const Job& other, const char* part) {
      CHECK_THROWS_WITH(check_same_job(origin, other, "job.yaml"), doctest::Contains(part));
    };
    refused(job_of_data(images_data("dog, cat", kSize, "0.5")),
            "w.safetensors: its weights come from a job that differs from job.yaml in classes (data.classes), class 0: "
            "'cat' there, 'dog' in job.yaml");
    refused(job_of_data(images_data("cat, wolf", kSize, "0.5")), "class 1: 'dog' there, 'wolf' in job.yaml");
    refused(job_of_data(images_data("cat, dog", kSize, "0.25")),
            "in normalization: (x / 255 - mean) / deviation, mean [0.5], deviation [1] there, (x / 255 - mean) / "
            "deviation, mean [0.25], deviation [1] in job.yaml");
    refused(job_of_data(images_data("cat, dog", "height: 6, width: 4", "0.5")), "in input: 1 x 4 x 6 there");
    refused(job_of_data(images_data("cat, dog", kSize, "0.5"), "{name: layers, layers: [linear: 5, linear: 2]}"),
            "in model: mlp there, layers in job.yaml");
    refused(job_of_data(images_data("dog, cat", kSize, "0.5")), "predict nonsense; mend it");
  }
}

TEST_CASE("a job of another kind of data set is compared as far as both say the same things") {
  const auto own = job_of_data(images_data("cat, dog", kSize, "0.5"));
  const auto idx = job_of_data(
      "{name: idx, train: a, test: b, train_labels: c, test_labels: d, classes: [cat, dog], height: 4, width: 6, "
      "train_examples: 40, test_examples: 7, mean: [0.5]}");
  const auto warning = check_same_job(origin_of(own), idx, "job.yaml");
  CHECK(warning.find("data.name (images there, idx here)") != std::string::npos);
}

std::string table_data(const std::string& columns) {
  return "{name: csv, train: rows.csv, train_examples: 40, columns: [" + columns + "]}";
}

TEST_CASE("columns that are not ignored must be the same, in their order") {
  const auto own = job_of_data(table_data("{name: a}, {name: b, mean: 2}, {name: c, kind: target}"));
  const auto origin = origin_of(own);
  CHECK_THROWS_WITH(check_same_job(origin,
                                   job_of_data(table_data("{name: b, mean: 2}, {name: a}, {name: c, kind: "
                                                          "target}")),
                                   "job.yaml"),
                    doctest::Contains("number 0 of those that are not ignored: number 'a', mean 0, deviation 1 there, "
                                      "number 'b', mean 2, deviation 1 in job.yaml"));
  CHECK_THROWS_WITH(check_same_job(origin,
                                   job_of_data(table_data("{name: a}, {name: b, mean: 3}, {name: c, kind: "
                                                          "target}")),
                                   "job.yaml"),
                    doctest::Contains("number 1 of those"));
  CHECK_FALSE(check_same_job(origin,
                             job_of_data(table_data("{name: a}, {name: x, kind: ignored}, {name: b, mean: 2}, {name: "
                                                    "c, kind: target}")),
                             "job.yaml")
                  .empty());  // a warning
}

TEST_CASE("of a list of layers the first that differs is named, and another dropout's rate is none") {
  // Longer than what a message quotes of a value.
  const auto job_with = [](const std::string& rate, const std::string& last) {
    std::string layers;
    for (int i = 0; i < 20; ++i) {
      layers += "linear: 5, relu, ";
    }
    return job_of_data(images_data("cat, dog", kSize, "0.5"),
                       "{name: layers, layers: [" + layers + "dropout: " + rate + ", " + last + "linear: 2]}");
  };
  const auto own = job_with("0.25", "linear: 6, ");
  const auto origin = origin_of(own);
  const auto warning = check_same_job(origin, job_with("0.5", "linear: 6, "), "job.yaml");
  CHECK(warning.find("differs from job.yaml in model.layers[40] 'dropout1'") != std::string::npos);
  CHECK(warning.find("rate: 0.25") != std::string::npos);
  CHECK(warning.find("rate: 0.5") != std::string::npos);
  const auto refused = [&](const Job& other, const char* part) {
    CHECK_THROWS_WITH(check_same_job(origin, other, "job.yaml"), doctest::Contains(part));
  };
  refused(job_with("0.5", "linear: 7, "), "in model.layers[41] 'linear21': {linear: {units: 6");
  refused(job_with("0.5", "linear: 7, "), " there, {linear: {units: 7");
  refused(job_with("0.25", ""), "in model.layers[41] 'linear21': {linear: {units: 6");
  refused(job_with("0.25", "linear: 6, linear: 2, "), "model.layers[43]");
  refused(job_with("0.25", "linear: 6, linear: 2, "), ": none there, ");
}

TEST_CASE("what may differ is told: training and which examples") {
  const auto own = job_of_data(images_data("cat, dog", kSize, "0.5"));
  auto other = own.spec;
  other.training.seed = 9;
  other.data.test_examples = 5;
  const auto warning = check_same_job(origin_of(own), make_job(other), "job.yaml");
  CHECK(warning.find("data.test_examples (7 there, 5 here)") != std::string::npos);
  CHECK(warning.find("training.seed") != std::string::npos);
}

TEST_CASE("evaluate refuses a file and a run with another normalisation, which fit the model all the same") {
  const SampleRun run;
  run.write_ledger(true);
  const auto file = run.file("out.safetensors");
  captured([&] { export_weights({run.path(), file, {}}); });
  const auto other = run.file("other.yaml");
  auto text = kSampleJob;
  std::ofstream(other) << text.replace(text.find("name: glyphs"), 12, "name: glyphs, mean: [0.5]");
  for (const auto& weights : {file, run.path()}) {
    CAPTURE(weights);
    CHECK_THROWS_WITH(evaluate({{weights, {}, other, ""}, "test", false}),
                      doctest::Contains("in normalization: (x / 255 - mean) / deviation, mean [0.1307]"));
    CHECK_THROWS_WITH(evaluate({{weights, {}, other, ""}, "test", false}), doctest::Contains("leave --job out"));
  }
}

}  // namespace
}  // namespace ballast
