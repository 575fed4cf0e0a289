#include "cli/telling/target_units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "common/telling/quality.h"

namespace ballast {
namespace {

std::string root_mean_text(double squared_error, const TargetUnit& target) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6g", std::sqrt(squared_error) * target.deviation);
  return "root mean squared error of " + target.name + " " + text.data();
}

}  // namespace

std::vector<TargetUnit> target_units(const DataSpec& data) {
  std::vector<TargetUnit> units;
  for (const auto& column : data.columns) {
    if (column.kind == CsvColumn::Kind::target) {
      units.push_back({column.name, column.mean, column.deviation});
    }
  }
  return units;
}

std::string units_text(const std::vector<Metric>& metrics, const DataSpec* data) {
  const auto squared = std::ranges::find(metrics, MetricKind::squared_error, &Metric::kind);
  if (squared == metrics.end()) {
    return {};
  }
  const auto targets = data == nullptr ? std::vector<TargetUnit>() : target_units(*data);
  const bool own = data != nullptr && !targets.empty() && std::ranges::none_of(targets, &TargetUnit::is_normalised);
  const std::string units = data == nullptr || targets.empty()
                                ? "errors are in the units that the network is trained on"
                            : own ? "errors are in the targets' own units"
                                  : "errors are in normalised units";
  return targets.size() == 1 ? units + "; " + root_mean_text(squared->value, targets[0]) : units;
}

std::string split_line(const char* name, const SplitStatus& split, const std::vector<Metric>& metrics,
                       const DataSpec* data) {
  if (!split.evaluated) {
    return {};
  }
  const auto units = units_text(metrics, data);
  return std::string(name) + " " + quality_text(split.loss, split.accuracy, metrics) +
         (units.empty() ? "" : " (" + units + ")") + ", at step " + std::to_string(split.step) + "\n";
}

}  // namespace ballast
