// A job's data, as its workers open them.
#pragma once

#include <memory>
#include <string>

#include "common/job/job.h"
#include "worker/data/dataset.h"

namespace ballast {

// open_dataset, and as many examples in each split as the job counts on. Throws BadData or ReadFailure (failures.h).
std::unique_ptr<Dataset> open_job_data(const Job& job, const std::string& worker_path);

}  // namespace ballast
