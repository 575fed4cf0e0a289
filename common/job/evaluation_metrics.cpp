#include "common/job/evaluation_metrics.h"

#include <variant>

#include "common/job/model_graph.h"

namespace ballast {

namespace {

MetricRules of_classes(const ExampleShape& example) {
  MetricRules rules;
  rules.top5 = example.classes > 5;
  rules.classes = example.classes <= kMostCountedClasses ? example.classes : 0;
  rules.scores = example.classes == 2 && example.labels == Labels::classes;
  rules.likelihood = example.labels == Labels::steps;
  return rules;
}

MetricRules of_several(const ExampleShape& example) {
  MetricRules rules;
  rules.classes = example.classes <= kMostCountedClasses ? example.classes : 0;
  rules.scores = example.classes == 1;
  return rules;
}

}  // namespace

MetricRules metric_rules(const ModelSpec& model, const ExampleShape& example) {
  MetricRules rules;
  if (!has_graph(model)) {
    return rules;
  }
  const auto loss = model_graph(model, example).loss;
  if (std::holds_alternative<SoftmaxCrossEntropy>(loss)) {
    return of_classes(example);
  }
  if (std::holds_alternative<LogisticLoss>(loss)) {
    return of_several(example);
  }
  const auto* const squared = std::get_if<SquaredError>(&loss);
  rules.errors = true;
  rules.of_input = squared != nullptr && squared->of_input;
  return rules;
}

MetricKind best_by(const TrainingSpec& training, const MetricRules& rules) {
  if (const auto named = metric_named(training.best_by)) {
    return *named;
  }
  return rules.tell(MetricKind::accuracy) && !rules.likelihood ? MetricKind::accuracy : MetricKind::loss;
}

}  // namespace ballast
