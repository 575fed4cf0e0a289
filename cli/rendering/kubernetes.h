// A job as objects of Kubernetes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/rendering/rendered_job.h"

namespace ballast {

// What the job needs, in the order in which it is to be made: pods that find Services by variables need them first.
std::vector<nlohmann::ordered_json> kubernetes_objects(const RenderedJob& rendered);

// The lines by which the Secrets are made that its pods wait for: whose contents no object has.
std::vector<std::string> secrets_to_make(const RenderedJob& rendered);
// The command that brings the job's page to port kPagePort of the machine where it is called.
std::string page_to_forward(const RenderedJob& rendered);

// The Job that reads the weights once the job has finished.
nlohmann::ordered_json weights_job(const RenderedJob& rendered);

}  // namespace ballast
