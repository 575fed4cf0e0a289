// How a job stands, for programs: what `ballast status --json` prints, and a part of what the lead's page is drawn
// from.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "protocol/messages.h"

namespace ballast {

// The fields of Status but the sessions; numbers that are not finite are null. `best_by`: what the best validation is
// the best in, if that is known.
nlohmann::ordered_json job_json(const Status& status, std::optional<MetricKind> best_by = {});

// One JSON object with all fields of Status, over several lines; phase times in microseconds.
std::string status_json(const Status& status, std::optional<MetricKind> best_by = {});

}  // namespace ballast
