// Who may end, reach and watch a job's pods.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/rendering/rendered_job.h"

namespace ballast {

// A PodDisruptionBudget of the servers, and NetworkPolicies.
std::vector<nlohmann::ordered_json> policies(const RenderedJob& rendered);

// A ServiceMonitor of the servers and a PodMonitor of the workers, for the Prometheus operator.
std::vector<nlohmann::ordered_json> monitors(const RenderedJob& rendered);

}  // namespace ballast
