#include "common/telling/quality.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "common/telling/json_numbers.h"
#include "protocol/lead/validation.h"

namespace ballast {

namespace {

std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string metric_value_text(const Metric& metric) {
  const bool is_share = metric.kind == MetricKind::top5 || metric.kind == MetricKind::accuracy;
  return is_share ? formatted("%.2f %%", 100 * metric.value) : formatted("%.4f", metric.value);
}

std::string text_of(const Metric& metric) {
  return std::string(name_of(metric.kind)) + " " + metric_value_text(metric);
}

}  // namespace

std::string quality_text(double loss, double accuracy, const std::vector<Metric>& metrics) {
  std::string text;
  if (const auto told = told_accuracy(accuracy, metrics)) {
    text += formatted("accuracy %.2f %%, ", 100 * *told);
  }
  const auto others = metrics_text(metrics);
  return text + formatted("loss %.4f", loss) + (others.empty() ? "" : ", " + others);
}

std::string headline(const SplitStatus& split, const std::vector<Metric>& metrics) {
  const auto accuracy = told_accuracy(split.accuracy, metrics);
  const auto perplexity = std::ranges::find(metrics, MetricKind::perplexity, &Metric::kind);
  return (accuracy ? formatted("accuracy %.2f %%", 100 * *accuracy) : formatted("loss %.4f", split.loss)) +
         (perplexity != metrics.end() ? ", " + text_of(*perplexity) : "");
}

std::string metrics_text(const std::vector<Metric>& metrics) {
  std::string text;
  for (const auto& metric : metrics) {
    text += (text.empty() ? "" : ", ") + text_of(metric);
  }
  return text;
}

std::string best_text(const SplitStatus& best, const std::vector<Metric>& metrics, std::optional<MetricKind> by) {
  const auto at = ", at step " + std::to_string(best.step);
  const auto all = "validation " + quality_text(best.loss, best.accuracy, metrics);
  const EvaluationRecord evaluation{best.step, Split::validation, best.loss, best.accuracy, 0, metrics};
  const auto value = by ? value_of(evaluation, *by) : std::nullopt;
  return value
             ? std::string("best by ") + name_of(*by) + ": " + metric_value_text({*by, *value}) + at + " (" + all + ")"
             : "best " + all + at;
}

nlohmann::ordered_json split_json(const SplitStatus& split, const std::vector<Metric>& metrics) {
  if (!split.evaluated) {
    return nullptr;
  }
  const auto accuracy = told_accuracy(split.accuracy, metrics);
  return {{"step", split.step},
          {"loss", finite(split.loss)},
          {"accuracy", accuracy ? finite(*accuracy) : nlohmann::ordered_json(nullptr)},
          {"metrics", metrics_json(metrics)}};
}

nlohmann::ordered_json metrics_json(const std::vector<Metric>& metrics) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& metric : metrics) {
    json[name_of(metric.kind)] = finite(metric.value);
  }
  return json;
}

}  // namespace ballast
