// The table's entries, by who has them.
#pragma once

#include <vector>

#include "common/metrics/metrics_table.h"

namespace ballast {

inline constexpr auto kCounter = MetricType::counter;
inline constexpr auto kGauge = MetricType::gauge;
inline constexpr auto kHistogram = MetricType::histogram;

const std::vector<MetricEntry>& process_entries();
const std::vector<MetricEntry>& shard_entries();
const std::vector<MetricEntry>& lead_entries();
const std::vector<MetricEntry>& worker_entries();

}  // namespace ballast
