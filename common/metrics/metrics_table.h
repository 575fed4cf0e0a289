// Every metric there is, in one table: what docs/metrics.md shows and what a name must be in to be used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

struct MetricEntry {
  std::string_view name;
  MetricType type = MetricType::counter;
  std::string_view unit;
  std::vector<std::string_view> labels;  // in the order in which their values are given
  std::string_view help;                 // one sentence
};

std::span<const MetricEntry> metrics_table();
// Null for a name that is not in the table.
const MetricEntry* find_metric(std::string_view name);

std::string_view to_string(MetricType type);

// docs/metrics.md, whole.
std::string metrics_document();

}  // namespace ballast
