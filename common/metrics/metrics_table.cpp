#include "common/metrics/metrics_table.h"

#include <algorithm>

#include "common/metrics/metric_entries.h"

namespace ballast {
namespace {

const std::vector<MetricEntry>& table() {
  static const auto entries = [] {
    std::vector<MetricEntry> all;
    for (const auto* part : {&process_entries(), &shard_entries(), &lead_entries(), &worker_entries()}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }();
  return entries;
}

}  // namespace

std::span<const MetricEntry> metrics_table() { return table(); }

const MetricEntry* find_metric(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &MetricEntry::name);
  return found == table().end() ? nullptr : &*found;
}

std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      break;
  }
  return "histogram";
}

std::string metrics_document() {
  std::string text =
      "# Metrics\n\n"
      "Every process serves these in Prometheus' text format at `/metrics` when it is told an address "
      "(`--metrics HOST:PORT`).\n"
      "Histograms have bounds from 0.1 ms to 30 s. Of workers that live under one name at once, the one with the "
      "lowest\n"
      "session has the label `worker` to itself, and each other is `name@session`.\n\n"
      "| name | type | unit | labels | meaning |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const auto& entry : table()) {
    std::string labels;
    for (const auto label : entry.labels) {
      labels.append(labels.empty() ? "" : ", ").append(label);
    }
    text.append("| `").append(entry.name).append("` | ").append(to_string(entry.type)).append(" | ");
    text.append(entry.unit).append(" | ").append(labels).append(" | ").append(entry.help).append(" |\n");
  }
  return text;
}

}  // namespace ballast
