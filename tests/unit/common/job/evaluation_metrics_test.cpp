#include "common/job/evaluation_metrics.h"

#include <doctest/doctest.h>

#include "common/job/load.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

ExampleShape vector_of(std::uint32_t outputs, Labels labels) {
  ExampleShape shape{12, 1, 1, outputs};
  shape.labels = labels;
  return shape;
}

MetricRules rules_of(const char* model, const ExampleShape& shape) {
  ModelSpec spec;
  spec.name = model;
  return metric_rules(spec, shape);
}

TEST_CASE("of classes are told the five likeliest, and precision and recall") {
  CHECK(rules_of("mlp", vector_of(10, Labels::classes)) == MetricRules{.top5 = true, .classes = 10});
  CHECK(rules_of("mlp", vector_of(5, Labels::classes)) == MetricRules{.classes = 5});
  CHECK(rules_of("mlp", vector_of(1025, Labels::classes)) == MetricRules{.top5 = true});
}

TEST_CASE("of a yes or no the area under the curve is told") {
  CHECK(rules_of("mlp", vector_of(2, Labels::classes)) == MetricRules{.classes = 2, .scores = true});
  CHECK(rules_of("mlp", vector_of(1, Labels::several)) == MetricRules{.classes = 1, .scores = true});
  CHECK(rules_of("mlp", vector_of(3, Labels::several)) == MetricRules{.classes = 3});
}

TEST_CASE("of numbers errors are told, of an autoencoder those from its input") {
  CHECK(rules_of("mlp", vector_of(2, Labels::numbers)) == MetricRules{.errors = true});
  const MetricRules of_input{.errors = true, .of_input = true};
  CHECK(rules_of("autoencoder", vector_of(2, Labels::numbers)) == of_input);
  CHECK(rules_of("autoencoder", vector_of(10, Labels::classes)) == of_input);
}

TEST_CASE("of labels at each step the perplexity is told") {
  ExampleShape text;
  text.vocabulary = 50;
  text.steps = 8;
  text.classes = 50;
  text.labels = Labels::steps;
  CHECK(rules_of("gpt", text) == MetricRules{.top5 = true, .classes = 50, .likelihood = true});
}

TEST_CASE("a model that computes nothing has no metrics") {
  CHECK(metric_rules(parse_job(kEmulated, "job.yaml").model, {}) == MetricRules{});
}

TEST_CASE("without training.best_by the best is the most accurate, or has the smallest loss") {
  TrainingSpec training;
  CHECK(best_by(training, {.classes = 10}) == MetricKind::accuracy);
  CHECK(best_by(training, {.classes = 10, .likelihood = true}) == MetricKind::loss);
  CHECK(best_by(training, {.errors = true}) == MetricKind::loss);
  CHECK(best_by(training, {}) == MetricKind::accuracy);
  training.best_by = "f1";
  CHECK(best_by(training, {.classes = 10}) == MetricKind::f1);
}

TEST_CASE("training.best_by names what the job's evaluations tell") {
  const std::vector<std::string> held_out = {"data.validation_examples=100", "training.keep_best=true"};
  const auto with = [&](const std::string& name) {
    auto all = held_out;
    all.push_back("training.best_by=" + name);
    return all;
  };
  for (const auto* const told : {"loss", "accuracy", "top5", "precision", "recall", "f1"}) {
    CHECK(job_errors(kJob, with(told)).empty());
  }
  CHECK(
      job_error(replaced(kJob, "slots: 8", "slots: 8\n  best_by: auc"), held_out) ==
      "job.yaml:8: training.best_by: 'auc' is not told of this model; choose loss, accuracy, top5, precision, recall, "
      "f1");
  CHECK(job_error(kJob, {"training.best_by=loss"}) ==
        "--set: training.best_by: 'loss' goes by held-out examples; set data.validation_examples, or remove it");
  CHECK(contains(job_error(kJob, with("acuracy")), "did you mean 'accuracy'?"));
}

}  // namespace
}  // namespace ballast::testing
