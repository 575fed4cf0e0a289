#include "cli/models/evaluate.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/models/prediction_kinds.h"
#include "cli/telling/target_units.h"
#include "common/job/evaluation_metrics.h"
#include "common/telling/json_numbers.h"
#include "common/telling/quality.h"
#include "worker/training/evaluate.h"

namespace ballast {

namespace {

// People read no longer table; programs take it from --json.
constexpr std::size_t kMostClassesShown = 100;

struct ClassOutcome {
  std::string name;
  std::uint64_t labelled = 0;
  ClassMetrics metrics;
};

// A number to be predicted.
struct TargetOutcome {
  std::string name;
  double root_mean_squared_error = 0;  // in its own units
};

struct Outcome {
  double loss = 0;
  double accuracy = 0;
  std::uint32_t examples = 0;
  std::uint32_t left_out = 0;
  std::vector<Metric> metrics;
  std::vector<ClassOutcome> classes;
  std::vector<TargetOutcome> targets;
};

// Where the job gives none, classes have their numbers.
std::vector<std::string> class_names(const DataSpec& data) {
  auto names = data.classes;
  for (const auto& column : data.columns) {
    if (column.kind == CsvColumn::Kind::flag) {
      names.push_back(column.name);
    }
  }
  return names;
}

std::vector<ClassOutcome> classes_of(const LoadedModel& model, std::uint32_t count, const MetricCounts& counted) {
  const auto names = class_names(model.job().spec.data);
  std::vector<ClassOutcome> classes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const own = &counted.counts[MetricCounts::kClasses + 3 * i];
    classes.push_back({i < names.size() ? names[i] : std::to_string(i), own[2], class_metrics(own[0], own[1], own[2])});
  }
  return classes;
}

std::vector<TargetOutcome> targets_of(const LoadedModel& model, const EvaluationSums& sums) {
  const auto units = target_units(model.job().spec.data);
  std::vector<TargetOutcome> targets;
  for (std::size_t i = 0; i < sums.squared_errors.size(); ++i) {
    const auto unit = i < units.size() ? units[i] : TargetUnit{std::to_string(i)};
    targets.push_back({unit.name, std::sqrt(sums.squared_errors[i] / sums.examples) * unit.deviation});
  }
  return targets;
}

Outcome outcome_from(const LoadedModel& model, const MetricRules& rules, const EvaluationSums& sums) {
  return {sums.loss_sum / sums.examples,
          static_cast<double>(sums.correct) / sums.examples,
          sums.examples,
          sums.left_out,
          metrics_of(rules, sums.counted),
          classes_of(model, rules.classes, sums.counted),
          targets_of(model, sums)};
}

nlohmann::ordered_json json_of(const std::vector<ClassOutcome>& classes) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& one : classes) {
    json.push_back({{"class", one.name},
                    {"labelled", one.labelled},
                    {"precision", one.metrics.precision},
                    {"recall", one.metrics.recall},
                    {"f1", one.metrics.f1}});
  }
  return json;
}

void print_json(const LoadedModel& model, const std::string& split, const Outcome& outcome) {
  const auto accuracy = told_accuracy(outcome.accuracy, outcome.metrics);
  nlohmann::ordered_json json;
  json["weights"] = model.words();
  json["job"] = model.job().spec.job;
  json["split"] = split;
  json["examples"] = outcome.examples;
  json["left_out"] = outcome.left_out;
  json["loss"] = finite(outcome.loss);
  json["accuracy"] = accuracy ? finite(*accuracy) : nlohmann::ordered_json(nullptr);
  json["metrics"] = metrics_json(outcome.metrics);
  json["classes"] = json_of(outcome.classes);
  json["targets"] = nlohmann::ordered_json::array();
  for (const auto& one : outcome.targets) {
    json["targets"].push_back({{"target", one.name}, {"root_mean_squared_error", finite(one.root_mean_squared_error)}});
  }
  std::puts(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

void print_targets(const std::vector<TargetOutcome>& targets) {
  if (!targets.empty()) {
    std::printf("%-32s %s\n", "target", "root mean squared error, in its own units");
  }
  for (const auto& one : targets) {
    std::printf("%-32s %.6g\n", one.name.c_str(), one.root_mean_squared_error);
  }
}

void print_text(const LoadedModel& model, const std::string& split, const Outcome& outcome) {
  const auto left_out =
      outcome.left_out > 0 ? " (corrupt and left out: " + std::to_string(outcome.left_out) + ")" : std::string();
  std::printf("%s\n%s split, %u example%s%s: %s\n", model.words().c_str(), split.c_str(), outcome.examples,
              outcome.examples == 1 ? "" : "s", left_out.c_str(),
              quality_text(outcome.loss, outcome.accuracy, outcome.metrics).c_str());
  if (const auto meaning = meaning_of_errors(model.job()); !meaning.empty()) {
    std::printf("%s\n", meaning.c_str());
  }
  print_targets(outcome.targets);
  if (outcome.classes.empty() || outcome.classes.size() > kMostClassesShown) {
    return;
  }
  std::printf("%-32s %9s %9s %9s %9s\n", "class", "labelled", "precision", "recall", "f1");
  for (const auto& one : outcome.classes) {
    std::printf("%-32s %9llu %9.4f %9.4f %9.4f\n", one.name.c_str(), static_cast<unsigned long long>(one.labelled),
                one.metrics.precision, one.metrics.recall, one.metrics.f1);
  }
}

}  // namespace

int evaluate(const EvaluateOptions& options) {
  LoadedModel model(options.source);
  const auto split = model.split_named(options.split);
  const auto data = model.open_data();
  const auto& job = model.job();
  const auto rules = metric_rules(job.spec.model, job.shape);
  const auto sums = evaluate_examples(model.model(), *data, split.split, 0, split.examples, model.weights(),
                                      MetricCounter(rules, job.shape));
  if (sums.examples == 0) {
    throw std::runtime_error("none of the " + std::to_string(sums.left_out) + " examples of the " + split.name +
                             " split can be read; the lines above say why");
  }
  const auto outcome = outcome_from(model, rules, sums);
  if (options.json) {
    print_json(model, split.name, outcome);
  } else {
    print_text(model, split.name, outcome);
  }
  return 0;
}

}  // namespace ballast
