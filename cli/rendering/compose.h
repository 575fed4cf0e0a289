// A job as a compose file.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/rendering/rendered_job.h"

namespace ballast {

// Of Compose v1 (1.28 or later) and v2. The job file lies beside it as job.yaml.
nlohmann::ordered_json compose_file(const RenderedJob& rendered);

// What is read after it (docker compose -f) where the job's page is to be published, to this machine alone.
nlohmann::ordered_json compose_page_file(const RenderedJob& rendered);

}  // namespace ballast
